import { type Hex, numberToHex } from "viem";
import type { QueryStatus } from "../report.js";

/** What a dataset says, or is about to say, of a key. */
export interface DataPoint {
  /** Whether the value can be used, and if not, why. */
  readonly status: QueryStatus;
  /** The value as a number; the key's dataset says in which scale. A spot price is scaled by 1e18. 0 unless OK. */
  readonly value: bigint;
  /** The same as it is stored: 32 bytes. */
  readonly output: Hex;
  /** When the providers last reported on the key, in seconds since 1970; 0 if never. */
  readonly updatedAt: bigint;
}

/** @param value A number of at most 256 bits. */
export function dataPoint(status: QueryStatus, value: bigint, updatedAt: bigint): DataPoint {
  return { status, value, output: numberToHex(value, { size: 32 }), updatedAt };
}
