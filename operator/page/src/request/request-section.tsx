import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/wire-data";
import { useRef, useState } from "preact/hooks";
import { useAnnounce } from "../components/announcer";
import { KeyField } from "./key-field";
import { keyProblem } from "./key-problem";
import { Outcome } from "./outcome";
import { ProgressList, progressWords } from "./progress-list";
import { type RequestState, runRequest } from "./run-request";

interface Props {
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
  /** The key as it was entered. */
  readonly text: string;
  readonly onText: (text: string) => void;
  /** Called when a value was stored. */
  readonly onStored?: () => void;
}

/** A form that requests an update, with its progress and its outcome. */
export function RequestSection({ network, dataset, text, onText, onStored }: Props) {
  const [isBroadcast, setBroadcast] = useState(network.broadcasts);
  const [state, setState] = useState<RequestState | null>(null);
  const [isAsked, setAsked] = useState(false);
  const announce = useAnnounce();
  const last = useRef<RequestState | null>(null);
  const isBusy = state !== null && state.end === null;
  const problem = text === "" ? "The key is empty." : keyProblem(dataset.key_form, text);

  const submit = async (event: Event) => {
    event.preventDefault();
    setAsked(true);
    if (isBusy) return;
    if (problem !== null) return announce(problem);
    const asked = { networkId: network.network_id, dataset: dataset.dataset, key: text, isBroadcast };
    await runRequest(asked, (next) => {
      setState(next);
      const words = progressWords(next);
      if (words !== (last.current && progressWords(last.current))) announce(words);
      last.current = next;
    });
    onStored?.();
  };

  return (
    <section class="card" aria-labelledby="request">
      <h2 id="request">Request a fresh value</h2>
      <p class="quiet">The operator asks every provider for a signed value, and the contract stores the result.</p>
      <form onSubmit={submit} noValidate>
        <KeyField dataset={dataset} text={text} onText={onText} />
        {isAsked && text === "" && <p class="field-note tone-bad">Enter a key first.</p>}
        <fieldset class="choices">
          <legend>Who sends the transaction</legend>
          <label class="choice">
            <input
              type="radio"
              name="broadcast"
              checked={isBroadcast}
              disabled={!network.broadcasts}
              onChange={() => setBroadcast(true)}
            />
            <span>
              <b>The operator</b>
              <span class="quiet">
                {network.broadcasts ? "It pays for the gas." : "It has no account on this network."}{" "}
                <code>broadcast: true</code>
              </span>
            </span>
          </label>
          <label class="choice">
            <input type="radio" name="broadcast" checked={!isBroadcast} onChange={() => setBroadcast(false)} />
            <span>
              <b>You</b>
              <span class="quiet">
                With your wallet, or by copying the transaction. <code>broadcast: false</code>
              </span>
            </span>
          </label>
        </fieldset>
        <button type="submit" class="primary" aria-disabled={isBusy}>
          {isBusy ? "Requesting …" : isBroadcast ? "Update now" : "Prepare the transaction"}
        </button>
      </form>
      {state && (
        <div class="answer">
          <ProgressList state={state} />
          {state.end && <Outcome end={state.end} dataset={dataset} network={network} onStored={onStored} />}
        </div>
      )}
    </section>
  );
}
