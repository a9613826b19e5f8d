import { type Hex, numberToHex } from "viem";
import type { DatasetKind } from "./dataset-kind.js";

/** Formats a value as it is in answers: a decimal string for a median dataset, otherwise 32 bytes in hex. */
export function formatValue(kind: DatasetKind, value: bigint | Hex): string {
  const number = BigInt(value);
  return kind === "median" ? number.toString() : numberToHex(number, { size: 32 });
}
