import type { AdviceProgress, SpecAdvice } from "@dataset-oracle/protocol/http-schemas/spec-advice";
import { useEffect, useState } from "preact/hooks";
import { RadioGroup } from "../components/radio-group";
import { tellScreenReaders } from "../components/tell-screen-readers";
import { shortHex } from "../format/hex";
import type { NetworkAndDataset } from "../live/overview-state";
import type { ReadError } from "../operator-api";
import { AdviceResult } from "./advice-result";
import { fetchAdvice } from "./fetch-advice";
import { Refusal } from "./refusal";
import { argumentsOf, type SpecDraft } from "./spec-draft";

interface Props extends NetworkAndDataset {
  readonly draft: SpecDraft;
  /** False while the document cannot be read; the draft is then empty. */
  readonly isJson: boolean;
  readonly args: readonly string[];
}

/** How long and how often the providers are asked, by the name of the choice. */
const LENGTHS = {
  "10 s": { samples: 5, seconds: 10 },
  "30 s": { samples: 15, seconds: 30 },
  "2 min": { samples: 30, seconds: 120 },
} as const;
type Length = keyof typeof LENGTHS;

/** Samples the value at up to ten providers, and says how it behaves and which rule fits. */
export function AdviceSection({ network, dataset, draft, isJson, args }: Props) {
  const [length, setLength] = useState<Length>("10 s");
  const [progress, setProgress] = useState<AdviceProgress | null>(null);
  const [advice, setAdvice] = useState<SpecAdvice | null>(null);
  const [error, setError] = useState<ReadError | null>(null);
  /** Stops the sampling; null if there is none. */
  const [control, setControl] = useState<AbortController | null>(null);
  useEffect(() => () => control?.abort(), [control]);

  const start = async (event: Event) => {
    event.preventDefault();
    if (control !== null || !isJson) return;
    const started = new AbortController();
    setControl(started);
    setAdvice(null);
    setError(null);
    setProgress(null);
    const answer = await fetchAdvice(
      {
        network_id: network.network_id,
        dataset: dataset.dataset,
        spec: draft,
        arguments: argumentsOf(draft, args),
        ...LENGTHS[length],
      },
      setProgress,
      started.signal,
    );
    setControl(null);
    if (answer === null) return tellScreenReaders("The sampling was stopped.");
    if (answer.ok) setAdvice(answer.value);
    else setError(answer.error);
    tellScreenReaders(answer.ok ? "The advice is shown." : answer.error.title);
  };

  return (
    <section class="card" aria-labelledby="advice">
      <h2 id="advice">3. See if providers agree</h2>
      <p class="quiet">
        Providers never read at the same instant, and their values must agree. Up to ten of them are asked repeatedly,
        to find out whether the value drifts, which rule fits it, and how late each source is.
      </p>
      <form class="row lab" onSubmit={start}>
        <RadioGroup
          name="Length of the sampling"
          options={Object.keys(LENGTHS) as Length[]}
          chosen={length}
          onChosen={setLength}
        />
        <button type="submit" aria-disabled={control !== null || !isJson}>
          {control === null ? "Sample the providers" : "Sampling …"}
        </button>
        {control !== null && (
          <button type="button" onClick={() => control.abort()}>
            Stop
          </button>
        )}
        {!isJson && <p class="small bad">Correct the document first.</p>}
      </form>
      {control !== null && <Progress progress={progress} of={LENGTHS[length].samples} dataset={dataset} />}
      {error && <Refusal error={error} />}
      {advice && <AdviceResult advice={advice} dataset={dataset} />}
    </section>
  );
}

function Progress({ progress, of, dataset }: Pick<Props, "dataset"> & { progress: AdviceProgress | null; of: number }) {
  const taken = progress?.taken ?? 0;
  const nameOf = (address: string) => dataset.providers.find((one) => one.address === address)?.name;
  return (
    <div class="answer">
      <progress max={of} value={taken} aria-label="Samples taken" />
      <p class="small quiet">
        {taken} of {of} samples
      </p>
      <ul class="row">
        {progress?.providers.map(({ provider, text, failure }) => (
          <li key={provider}>
            <span class="quiet">{nameOf(provider) ?? shortHex(provider)}</span>{" "}
            <b class={text === null ? "warn" : ""}>{text ?? failure}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}
