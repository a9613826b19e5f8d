import { type RequestUpdateParameters, requestUpdate } from "./request-update.js";
import type { UnsentUpdate } from "./update-answer.js";

/** The data point, and the operators that are asked for its update. */
export type FetchUpdateParameters = Pick<
  RequestUpdateParameters<false>,
  "url" | "networkId" | "dataset" | "key" | "onProgress" | "timeoutMs" | "signal"
>;

/**
 * Fetches a signed update from an operator, which sends nothing. Pass its `update` to a contract that takes one, for
 * example through `OracleProtocol.updateAndQuerySpotPrice`. The update can be used for as long as the dataset accepts
 * its round: `maxRoundAge`, 300 seconds unless the dataset says otherwise.
 *
 * @param parameters `timeoutMs` is the timeout of each operator, in milliseconds: by default 45,000, or 105,000 with
 * `onProgress`.
 * @throws `DataRequestError` of the last operator when all of them failed; the signal's reason if it was aborted.
 */
export function fetchUpdate(parameters: FetchUpdateParameters): Promise<UnsentUpdate> {
  return requestUpdate({ ...parameters, broadcast: false });
}
