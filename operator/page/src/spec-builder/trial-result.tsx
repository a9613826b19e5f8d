import type { SpecTrial, TrialSource } from "@dataset-oracle/protocol/http-schemas/spec-trial";
import { Fact } from "../components/fact";
import { Hex } from "../components/hex";
import { Step } from "../components/step";
import { datasetName } from "../format/network-and-dataset-names";
import { formatExact } from "../format/number";
import type { NetworkAndDataset } from "../live/overview-state";
import { datasetPath } from "../route";
import { renderInlineCode } from "./inline-code";
import { sentencesOf } from "./problems-by-field";

interface Props extends NetworkAndDataset {
  readonly trial: SpecTrial;
}

/** Shows a trial: what each source answered, the combined value, and what it would be on chain. */
export function TrialResult({ trial, network, dataset }: Props) {
  const { combined } = trial;
  const provider = dataset.providers.find(({ address }) => address === trial.provider);
  return (
    <>
      {trial.sources.map((source, index) => (
        <section key={source.name} class="trial" aria-label={`Source ${index + 1}`}>
          <h3>
            <span class="quiet">{source.fetched.method}</span> <code>{source.fetched.url}</code>
          </h3>
          <SourceSteps source={source} />
        </section>
      ))}
      <section class="trial total" aria-label="The value">
        <p class={combined.text !== null && combined.text.length > 24 ? "big long" : "big"}>{combined.text ?? "—"}</p>
        <ol class="steps column">
          <Step name="Combined" state={combined.value === null ? "failed" : "done"}>
            {combined.reason === null ? describeCombination(trial) : `${combined.reason}.`}
          </Step>
        </ol>
        <p class="small quiet">
          Read by {provider?.name} <Hex hex={trial.provider} what="the provider's address" />
        </p>
      </section>
      <OnChain trial={trial} network={network} dataset={dataset} />
    </>
  );
}

function SourceSteps({ source: { fetched, selected, scaled, error } }: { source: TrialSource }) {
  const failed = error && renderInlineCode(sentencesOf(error));
  const at = error?.step;
  return (
    <ol class="steps column">
      <Step name="Fetched" state={at === "fetched" ? "failed" : "done"}>
        {fetched.status !== null && (
          <>
            HTTP {fetched.status}, {fetched.bytes?.toLocaleString("en")} bytes in {fetched.ms} ms{" "}
            {fetched.sha256 && <Hex hex={fetched.sha256} what="the SHA-256 of the answer" />}
          </>
        )}{" "}
        {at === "fetched" && failed}
      </Step>
      {at !== "fetched" && (
        <Step name="Selected" state={at === "selected" ? "failed" : "done"}>
          {selected && (
            <>
              <code>{selected.text}</code> <span class="quiet">at</span> <code class="quiet">{selected.path}</code>
            </>
          )}{" "}
          {at === "selected" && failed}
        </Step>
      )}
      {(at === undefined || at === "scaled") && (
        <Step name="Scaled" state={at === "scaled" ? "failed" : "done"}>
          {scaled && (
            <>
              <b>{scaled.text}</b> <span class="quiet">which is</span> <code>{scaled.value}</code>
            </>
          )}{" "}
          {at === "scaled" && failed}
        </Step>
      )}
    </ol>
  );
}

function describeCombination({
  combined: { how, with_value: count, min_sources: needed },
  sources,
}: SpecTrial): string {
  const words = {
    median: "the median",
    majority: "the value that more than half of them give",
    equal: "the value that all of them give",
  }[how];
  return `${words}: ${count} of ${sources.length} ${sources.length === 1 ? "source has" : "sources have"} a value; the minimum is ${needed}.`;
}

function OnChain({ trial, network, dataset }: Props) {
  const { combined, output, key, spec_hash: hash, spec_bytes: bytes } = trial;
  const rule =
    dataset.kind === "median"
      ? `the median of the providers' values, within ${dataset.tolerance_bps / 100} %`
      : "what more than half of the providers sign";
  return (
    <section aria-labelledby="on-chain">
      <h3 id="on-chain">What it would be on chain</h3>
      <dl class="facts">
        {output !== null && combined.value !== null && (
          <>
            {trial.kind === "median" && <Fact name="query returns">{formatExact(BigInt(combined.value), 0)}</Fact>}
            <Fact name="As 32 bytes" wide>
              <Hex hex={output} what="the 32 bytes" whole />
            </Fact>
          </>
        )}
        <Fact name="Key" wide>
          <Hex hex={key} what="the key of the trial" whole />
        </Fact>
        <Fact name="Hash of the spec" wide>
          <Hex hex={hash} what="the hash of the spec" whole />
        </Fact>
        <Fact name="Spec">{((bytes.length - 2) / 2).toLocaleString("en")} bytes</Fact>
        <Fact name="Dataset" wide>
          <a href={datasetPath(network.network_id, dataset.dataset)}>{datasetName(dataset.name)}</a>, which stores{" "}
          {rule}
        </Fact>
      </dl>
    </section>
  );
}
