import type { BroadcastUpdate, DataRequestProblem, UnsentUpdate, UpdateProgress } from "@dataset-oracle/protocol";
import { BASE } from "../api/base";

/** The request that the form describes. */
export interface Asked {
  readonly networkId: number;
  readonly dataset: string;
  readonly key: string;
  readonly isBroadcast: boolean;
}

/** The end of a request. */
export type RequestEnd =
  | { readonly kind: "stored"; readonly update: BroadcastUpdate }
  | { readonly kind: "unsent"; readonly update: UnsentUpdate }
  | { readonly kind: "problem"; readonly problem: DataRequestProblem; readonly retryAfter: number | null };

/** The progress of a request. */
export interface RequestState {
  readonly asked: Asked;
  /** In the order in which they arrived. */
  readonly steps: readonly UpdateProgress[];
  readonly end: RequestEnd | null;
}

/** Sends the request and reports every step. Never throws. */
export async function runRequest(asked: Asked, onState: (state: RequestState) => void): Promise<void> {
  let state: RequestState = { asked, steps: [], end: null };
  const go = (next: Partial<RequestState>) => {
    state = { ...state, ...next };
    onState(state);
  };
  go({});
  const client = await loadClient();
  if (client === null) return go({ end: { kind: "problem", problem: GONE, retryAfter: null } });
  const { DataRequestError, requestUpdate } = client;
  const { networkId, dataset, key, isBroadcast } = asked;
  try {
    const parameters = { url: BASE, networkId, dataset: dataset as `0x${string}`, key };
    const onProgress = (step: UpdateProgress) => go({ steps: [...state.steps, step] });
    const end: RequestEnd = isBroadcast
      ? { kind: "stored", update: await requestUpdate({ ...parameters, broadcast: true, onProgress }) }
      : { kind: "unsent", update: await requestUpdate({ ...parameters, broadcast: false, onProgress }) };
    go({ end });
  } catch (error) {
    if (error instanceof DataRequestError) {
      go({ end: { kind: "problem", problem: error.problem, retryAfter: error.retryAfterSeconds } });
      return;
    }
    const title = "The page failed unexpectedly.";
    const detail = `Reload it. (${String(error)})`;
    go({
      end: { kind: "problem", problem: { code: "unexpected_answer", title, detail, status: 0 }, retryAfter: null },
    });
  }
}

const GONE: DataRequestProblem = {
  code: "unreachable",
  title: "The operator cannot be reached.",
  detail: "Check your connection and try again.",
};

/** Loads the client on demand, because it is the larger part of the page. Null if it cannot be loaded. */
const loadClient = () => import("@dataset-oracle/protocol").catch(() => null);
