import { type RequestUpdateParameters, requestUpdate } from "./request-update.js";
import type { UnsentUpdate } from "./update-answer.js";

/** The data point, and the operators that are asked for its update. */
export type FetchUpdateParameters = Pick<
  RequestUpdateParameters<false>,
  "url" | "networkId" | "dataset" | "key" | "onProgress" | "timeoutMs" | "signal"
>;

/** A signed update, and the data point as it will be stored. */
export interface FetchedUpdate extends UnsentUpdate {
  /** The argument `update` of a contract that refreshes and reads: the calldata of the dataset's update function. */
  readonly data: UnsentUpdate["transaction"]["data"];
}

/**
 * Fetches a signed update from an operator, which sends nothing. Pass its `data` to a contract that takes an update, for
 * example through `OracleProtocol.updateAndQuerySpotPrice`. The update can be used for as long as the dataset accepts
 * its round: `maxRoundAge`, 300 seconds unless the dataset says otherwise.
 *
 * @param parameters `timeoutMs` is the timeout of each operator, in milliseconds: by default 45,000, or 105,000 with
 * `onProgress`.
 * @throws `DataRequestError` of the last operator when all of them failed; the signal's reason if it was aborted.
 */
export async function fetchUpdate(parameters: FetchUpdateParameters): Promise<FetchedUpdate> {
  const update = await requestUpdate({ ...parameters, broadcast: false });
  return { ...update, data: update.transaction.data };
}
