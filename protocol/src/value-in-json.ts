import { type Hex, numberToHex } from "viem";
import type { DatasetKind } from "./dataset-kind.js";

/** Formats a value as it is in answers: a decimal string for a median dataset, otherwise 32 bytes in hex. */
export function formatValue(kind: DatasetKind, value: bigint | Hex): string {
  const number = BigInt(value);
  return kind === "median" ? number.toString() : numberToHex(number, { size: 32 });
}

/** The inverse of `formatValue`. Returns null for any other text. */
export function parseValue(kind: DatasetKind, text: string): Hex | null {
  if (kind !== "median") return /^0x[0-9a-f]{64}$/.test(text) ? (text as Hex) : null;
  return /^\d{1,77}$/.test(text) ? numberToHex(BigInt(text), { size: 32 }) : null;
}
