import type { NetworkAndDataset } from "../live/overview-state";
import { Refusal } from "./refusal";
import { argumentsOf, type SpecDraft, variableNames } from "./spec-draft";
import { SpecField } from "./spec-field";
import { TrialResult } from "./trial-result";
import type { TrialState } from "./use-trial";

interface Props extends NetworkAndDataset {
  readonly draft: SpecDraft;
  /** False while the document cannot be read; the draft is then empty. */
  readonly isJson: boolean;
  readonly args: readonly string[];
  readonly onArgs: (args: readonly string[]) => void;
  readonly tried: TrialState;
  readonly onTry: () => void;
}

/** Has a provider try the spec, and shows each step of its engine. */
export function TrialSection({ network, dataset, draft, isJson, args, onArgs, tried, onTry }: Props) {
  const names = variableNames(draft);
  const { trial, error, isBusy, isCurrent } = tried;
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isBusy && isJson) onTry();
  };
  return (
    <section class="card" aria-labelledby="trial">
      <h2 id="trial">2. Try it</h2>
      <p class="quiet">
        A data provider reads the sources now, with the engine that it uses for signed values. Nothing is signed, stored
        or paid.
      </p>
      <form onSubmit={submit} noValidate>
        {names.length > 0 && (
          <div class="fields arguments">
            {names.map((name, index) => (
              <SpecField
                key={index}
                name={`Argument: ${name || index + 1}`}
                at={`/arguments/${index}`}
                value={args[index]}
                onValue={(typed) => onArgs(argumentsOf(draft, args).with(index, typed))}
              />
            ))}
          </div>
        )}
        <button type="submit" class="primary" aria-disabled={isBusy || !isJson}>
          {isBusy ? "Trying …" : "Try it now"}
        </button>
        {!isJson && <p class="small bad">Correct the document first.</p>}
      </form>
      {error && <Refusal error={error} />}
      {trial && (
        <div class={isCurrent ? "answer" : "answer outdated"}>
          {!isCurrent && <p class="warn">The spec or an argument has changed since. Try it again.</p>}
          <TrialResult trial={trial} network={network} dataset={dataset} />
        </div>
      )}
    </section>
  );
}
