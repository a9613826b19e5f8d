import type { ValueFormat } from "@dataset-oracle/protocol/http-schemas/overview";
import { useEffect, useState } from "preact/hooks";
import { tellScreenReaders } from "../components/copy";
import type { NetworkAndDataset } from "../live/overview";
import { Progress, progressWords } from "./progress";
import { RequestResult } from "./request-result";
import { preloadClient, type RequestState, runRequest } from "./run-request";

interface RequestSectionProps extends NetworkAndDataset {
  /** The key, in ASCII or in hex after `0x`. */
  readonly text: string;
  /** The format of the key's value; null if it is unknown. */
  readonly format: ValueFormat | null;
  /** Called when a request or its transaction has ended: a value may have been stored. */
  readonly onStored?: () => void;
}

/** A form that requests an update, with its progress and its outcome. */
export function RequestSection({ network, dataset, text, format, onStored }: RequestSectionProps) {
  const [isBroadcast, setBroadcast] = useState(network.broadcasts);
  const [state, setState] = useState<RequestState | null>(null);
  const operatorPays = network.broadcasts ? "It pays for the gas." : "It has no account on this network.";
  const isBusy = state !== null && state.end === null;
  useEffect(preloadClient, []);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    const asked = { networkId: network.network_id, dataset: dataset.dataset, key: text, isBroadcast };
    await runRequest(asked, (next) => {
      setState(next);
      tellScreenReaders(progressWords(next));
    });
    onStored?.();
  };

  return (
    <section class="card" aria-labelledby="request">
      <h2 id="request">Request a fresh value</h2>
      <p class="quiet">Every provider is asked, and the contract stores the result.</p>
      <form onSubmit={submit}>
        <fieldset>
          <legend>Who sends the transaction</legend>
          {[true, false].map((byOperator) => (
            <label key={byOperator} class="choice">
              <input
                type="radio"
                name="broadcast"
                checked={isBroadcast === byOperator}
                disabled={byOperator && !network.broadcasts}
                onChange={() => setBroadcast(byOperator)}
              />
              <span>
                <b>{byOperator ? "The operator" : "You"}</b>
                <span class="small quiet">
                  {byOperator ? operatorPays : "With your wallet, or by copying the transaction."}{" "}
                  <code>broadcast: {String(byOperator)}</code>
                </span>
              </span>
            </label>
          ))}
        </fieldset>
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {isBusy ? "Requesting …" : isBroadcast ? "Update now" : "Prepare the transaction"}
        </button>
      </form>
      {state && (
        <div class="answer">
          <Progress state={state} />
          {state.end && <RequestResult end={state.end} kind={dataset.kind} format={format} onStored={onStored} />}
        </div>
      )}
    </section>
  );
}
