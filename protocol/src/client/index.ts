/**
 * The client for dapps: it reads datasets and requests updates. Other parts of the protocol are separate modules, such
 * as `@dataset-oracle/protocol/report`.
 */

export { datasetAbi } from "../abi/dataset.js";
export { oracleAbi } from "../abi/oracle.js";
export { verifiedLensAbi } from "../abi/verified-lens.js";
export { keyToAscii, parseKey, spotPriceKey } from "../key.js";
export { QUERY_STATUSES, type QueryStatus } from "../report.js";
export type { Result } from "../result.js";
export type { SignedValue } from "../update.js";
export { type WebKey, webKey } from "../web-key.js";
export { type FetchedUpdate, type FetchUpdateParameters, fetchUpdate } from "./fetch-update.js";
export { formatSpotPrice, SPOT_PRICE_DECIMALS } from "./format-spot-price.js";
export {
  type ClientProblem,
  DataRequestError,
  type DataRequestProblem,
  type OperatorProblem,
  type OperatorProblemCode,
  type ProviderFailure,
} from "./problem.js";
export type { UpdateProgress } from "./progress.js";
export type { QueryResult } from "./query-result.js";
export { readQueryPrice } from "./read-query-price.js";
export { type ReadVerifiedParameters, readVerified } from "./read-verified.js";
export {
  type BroadcastUpdate,
  type RequestUpdateParameters,
  requestUpdate,
  type UnsentUpdate,
  type UpdateTransaction,
} from "./request-update.js";
export {
  type MinedUpdate,
  NoAccountError,
  type SendUpdateParameters,
  sendUpdate,
  WrongChainError,
} from "./send-update.js";
export { InsufficientBalanceError, type SimulateQueryParameters, simulateQuery } from "./simulate-query.js";
export { type WriteFreshParameters, writeFresh } from "./write-fresh.js";
