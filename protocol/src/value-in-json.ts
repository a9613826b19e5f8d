import { type Hex, maxUint256, numberToHex } from "viem";
import type { DatasetKind } from "./dataset-kind.js";

const FORMS: Readonly<Record<DatasetKind, RegExp>> = { median: /^(?:0|[1-9]\d{0,77})$/, majority: /^0x[0-9a-f]{64}$/ };

/** Formats a value as it is in answers: a decimal string for a median dataset, otherwise 32 bytes in hex. */
export function formatValue(kind: DatasetKind, value: bigint | Hex): string {
  const number = BigInt(value);
  return kind === "median" ? number.toString() : numberToHex(number, { size: 32 });
}

/** The inverse of `formatValue`. Returns null for text that it never writes. */
export function parseValue(kind: DatasetKind, text: string): Hex | null {
  if (!FORMS[kind].test(text)) return null;
  const number = BigInt(text);
  return number <= maxUint256 ? numberToHex(number, { size: 32 }) : null;
}
