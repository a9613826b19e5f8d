import { type Hex, numberToHex } from "viem";
import { QUERY_STATUSES, type QueryStatus } from "../query-status.js";

/** A dataset's answer to a query, now or once an update is mined. */
export interface QueryResult {
  /** `OK` if the value can be used, otherwise the reason why not. */
  readonly status: QueryStatus;
  /** The value as a number, in the dataset's scale (spot prices: 1e18). 0 unless the status is OK. */
  readonly value: bigint;
  /** The value as it is stored: 32 bytes. */
  readonly output: Hex;
  /** The time of the providers' last reports on the key, in seconds since 1970; 0 if there were none. */
  readonly updatedAt: bigint;
}

/** @param value A number of at most 256 bits. */
export function queryResult(status: QueryStatus, value: bigint, updatedAt: bigint): QueryResult {
  return { status, value, output: numberToHex(value, { size: 32 }), updatedAt };
}

/**
 * Reads the decoded output of `query`.
 *
 * @throws An Error when no status has this index.
 */
export function readQueryResult(output: Hex, updatedAt: bigint, statusIndex: number): QueryResult {
  const status = QUERY_STATUSES[statusIndex];
  if (!status) throw new Error(`${statusIndex} is not a query status. Check the dataset's address.`);
  return { status, value: BigInt(output), output, updatedAt };
}
