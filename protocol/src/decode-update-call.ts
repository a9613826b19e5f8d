import { type Address, decodeFunctionData, getAbiItem, type Hex } from "viem";
import { datasetAbi } from "./abi/dataset.js";
import type { Outcome } from "./report.js";

/** Only the functions that update: on every call, viem hashes functions' signatures until one matches. */
const UPDATE_ABI = [
  getAbiItem({ abi: datasetAbi, name: "update" }),
  getAbiItem({ abi: datasetAbi, name: "updateNotAvailable" }),
  getAbiItem({ abi: datasetAbi, name: "updateBatch" }),
] as const;

/** What one provider signed: a value or, in a batch, the bits of the keys without one. */
interface SignedContent {
  readonly content: Hex;
  readonly r: Hex;
  readonly vs: Hex;
}

/** The content of an update of one key, or of a batch, which names its keys by their hashes. */
export type UpdateCall = {
  /** In seconds since 1970. */
  readonly round: bigint;
  readonly absentees: readonly Address[];
} & (
  | {
      readonly kind: "update";
      readonly key: Hex;
      readonly outcome: Outcome;
      /** The value that is stored; null if there is none. */
      readonly value: Hex | null;
      readonly signed: readonly SignedContent[];
    }
  | {
      readonly kind: "batch";
      readonly keyHashes: readonly Hex[];
      readonly rows: readonly SignedContent[];
      /** The rows' values, one row after another. Nothing guarantees that each row has one for each key. */
      readonly values: readonly Hex[];
    }
);

/**
 * Decodes the calldata of an update, single or batch, without checking its signatures. Returns null for any other call,
 * and for malformed arguments.
 */
export function decodeUpdateCall(data: Hex): UpdateCall | null {
  const call = decodeArguments(data);
  switch (call?.functionName) {
    case "update": {
      const [key, round, value, , signed, absentees] = call.args;
      return { kind: "update", key, round, outcome: "OK", value, signed, absentees };
    }
    case "updateNotAvailable": {
      const [key, round, , signed, absentees] = call.args;
      return { kind: "update", key, round, outcome: "NOT_AVAILABLE", value: null, signed, absentees };
    }
    case "updateBatch": {
      const [{ timestamp: round, keyHashes, rows, values, absentees }] = call.args;
      return { kind: "batch", round, keyHashes, rows, values, absentees };
    }
    default:
      return null;
  }
}

function decodeArguments(data: Hex) {
  try {
    return decodeFunctionData({ abi: UPDATE_ABI, data });
  } catch {
    return null;
  }
}
