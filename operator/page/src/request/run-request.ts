import type { BroadcastUpdate, DataRequestProblem, UnsentUpdate, UpdateProgress } from "@dataset-oracle/protocol";
import type { Address } from "viem";
import { OPERATOR_URL, type PointId } from "../operator-api";

/** The request that the form describes. */
export interface UpdateRequest extends PointId {
  readonly isBroadcast: boolean;
}

/** The reason why a request failed: a problem of the operator or the client, or of the page itself. */
export type RequestFailure =
  | DataRequestProblem
  | { readonly code: "page_failed"; readonly title: string; readonly detail: string };

/** The end of a request. */
export type RequestEnd =
  | { readonly kind: "stored"; readonly update: BroadcastUpdate }
  | { readonly kind: "unsent"; readonly update: UnsentUpdate }
  | {
      readonly kind: "problem";
      readonly problem: RequestFailure;
      /** In seconds; null if the operator did not say. */
      readonly retryAfter: number | null;
    };

/** The progress of a request. */
export interface RequestState {
  readonly asked: UpdateRequest;
  /** In the order in which they arrived. */
  readonly steps: readonly UpdateProgress[];
  readonly end: RequestEnd | null;
}

/** The client is not part of the first paint, because it is the larger part of the page. */
const loadClient = () => import("@dataset-oracle/protocol").catch(() => null);

/** Loads the client before it is needed: an operator that is gone by then could not serve it. */
export const preloadClient = () => void loadClient();

/** Sends the request and reports every step. Never throws. */
export async function runRequest(asked: UpdateRequest, onState: (state: RequestState) => void): Promise<void> {
  let state: RequestState = { asked, steps: [], end: null };
  const go = (next: Partial<RequestState>) => {
    state = { ...state, ...next };
    onState(state);
  };
  go({});
  const onProgress = (step: UpdateProgress) => go({ steps: [...state.steps, step] });
  go({ end: await request(asked, onProgress) });
}

async function request(
  { networkId, dataset, key, isBroadcast }: UpdateRequest,
  onProgress: (step: UpdateProgress) => void,
): Promise<RequestEnd> {
  const client = await loadClient();
  if (client === null) {
    const detail = "Check your connection, and reload the page.";
    return problem({ code: "page_failed", title: "This part of the page could not be loaded.", detail });
  }
  const { DataRequestError, requestUpdate } = client;
  const parameters = { url: OPERATOR_URL, networkId, dataset: dataset as Address, key, onProgress };
  try {
    return isBroadcast
      ? { kind: "stored", update: await requestUpdate({ ...parameters, broadcast: true }) }
      : { kind: "unsent", update: await requestUpdate({ ...parameters, broadcast: false }) };
  } catch (error) {
    if (error instanceof DataRequestError) return problem(error.problem, error.retryAfterSeconds);
    const detail = `Reload the page. (${String(error)})`;
    return problem({ code: "page_failed", title: "The page failed unexpectedly.", detail });
  }
}

function problem(problem: RequestFailure, retryAfter: number | null = null): RequestEnd {
  return { kind: "problem", problem, retryAfter };
}
