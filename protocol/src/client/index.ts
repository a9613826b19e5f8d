/**
 * The client for dapps: it reads datasets and requests updates. Other parts of the protocol are separate modules, such
 * as `@dataset-oracle/protocol/report`.
 */

export { datasetAbi } from "../abi/dataset.js";
export { oracleAbi } from "../abi/oracle.js";
export { verifiedLensAbi } from "../abi/verified-lens.js";
export { keyToAscii, parseKey, spotPriceKey } from "../dataset-key.js";
export type { SignedValue } from "../encode-update.js";
export type { OperatorProblem, OperatorProblemCode, ProviderFailure } from "../operator-problem.js";
export { QUERY_STATUSES, type QueryStatus } from "../query-status.js";
export type { Result } from "../result.js";
export { type WebOracleKeyContent, webOracleKey } from "../web-oracle-key.js";
export { type ClientProblem, DataRequestError, type DataRequestProblem } from "./data-request-error.js";
export { type FetchUpdateParameters, fetchUpdate } from "./fetch-update.js";
export { formatSpotPrice, SPOT_PRICE_DECIMALS } from "./format-spot-price.js";
export type { QueryResult } from "./query-result.js";
export { readQueryPrice } from "./read-query-price.js";
export { type ReadVerifiedParameters, readVerified } from "./read-verified.js";
export { type RequestUpdateParameters, requestUpdate } from "./request-update.js";
export { NoAccountError, WrongChainError } from "./send-and-wait.js";
export { type MinedUpdate, type SendUpdateParameters, sendUpdate } from "./send-update.js";
export { InsufficientBalanceError, type SimulateQueryParameters, simulateQuery } from "./simulate-query.js";
export type { BroadcastUpdate, UnsentUpdate, UpdateTransaction } from "./update-answer.js";
export type { UpdateProgress } from "./update-progress.js";
export { type WriteContractWithUpdateParameters, writeContractWithUpdate } from "./write-contract-with-update.js";
