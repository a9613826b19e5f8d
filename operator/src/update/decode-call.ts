import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import type { Outcome } from "@dataset-oracle/protocol/report";
import { decodeFunctionData, type Hex } from "viem";

/** The round and the keys of an update's calldata. A batch names its keys by their hashes. */
export type DecodedUpdateCall =
  | { readonly kind: "update"; readonly round: bigint; readonly outcome: Outcome; readonly key: Hex }
  | { readonly kind: "batch"; readonly round: bigint; readonly keyHashes: readonly Hex[] };

/** Decodes the calldata of an update, and checks no signature. Returns null for any other call. */
export function decodeUpdateCall(data: Hex): DecodedUpdateCall | null {
  const call = decodeUpdateArguments(data);
  switch (call?.functionName) {
    case "update":
      return { kind: "update", round: call.args[1], outcome: "OK", key: call.args[0] };
    case "updateNotAvailable":
      return { kind: "update", round: call.args[1], outcome: "NOT_AVAILABLE", key: call.args[0] };
    case "updateBatch":
      return { kind: "batch", round: call.args[0].timestamp, keyHashes: call.args[0].keyHashes };
    default:
      return null;
  }
}

/** Decodes the calldata of an update with all of its arguments. Returns null for any other call. */
export function decodeUpdateArguments(data: Hex) {
  try {
    const call = decodeFunctionData({ abi: datasetAbi, data });
    switch (call.functionName) {
      case "update":
      case "updateNotAvailable":
      case "updateBatch":
        return call;
      default:
        return null;
    }
  } catch {
    // The selector is none of the dataset's, or the arguments do not fit it.
    return null;
  }
}
