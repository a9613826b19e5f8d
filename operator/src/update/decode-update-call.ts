import { decodeUpdateArguments } from "@dataset-oracle/protocol/decode-update-arguments";
import type { Outcome } from "@dataset-oracle/protocol/report";
import type { Hex } from "viem";

/** The round and the keys of an update's calldata. A batch names its keys by their hashes. */
export type DecodedUpdateCall =
  | { readonly kind: "update"; readonly round: bigint; readonly outcome: Outcome; readonly key: Hex }
  | { readonly kind: "batch"; readonly round: bigint; readonly keyHashes: readonly Hex[] };

/** Decodes the calldata of an update, without checking its signatures. Returns null for any other call. */
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
