import { hash } from "node:crypto";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { bytesToHex } from "viem";
import type { Decision } from "./decision.js";

/** The length of a value and of a checksum, in bytes. */
const VALUE_BYTES = 32;
const CHECK_BYTES = 8;

/** A decision as it is stored: the value's 32 bytes, or none when there is no data, and a checksum of key and value. */
interface DecisionRecord {
  readonly bytes: Uint8Array;
  readonly check: bigint;
}

export function encodeDecision(key: string, { outcome, value }: Decision): DecisionRecord {
  const stored = outcome === "OK" ? value.slice(2) : "";
  const check = checkOf(`${key} ${stored}`);
  return { bytes: Buffer.from(stored + check.toString(16).padStart(2 * CHECK_BYTES, "0"), "hex"), check };
}

/** Returns the decision and its checksum; null when the record is not as it was written. */
export function decodeDecision(key: string, bytes: Uint8Array): { decision: Decision; check: bigint } | null {
  const length = bytes.length - CHECK_BYTES;
  if (length !== 0 && length !== VALUE_BYTES) return null;
  const value = bytesToHex(bytes.subarray(0, length));
  const decision: Decision = length === 0 ? { outcome: "NOT_AVAILABLE", value: ZERO_VALUE } : { outcome: "OK", value };
  const check = checkOf(`${key} ${value.slice(2)}`);
  return check === BigInt(bytesToHex(bytes.subarray(length))) ? { decision, check } : null;
}

/** Returns a 64-bit checksum, which protects against damage but not against forgery. */
const checkOf = (text: string): bigint => BigInt(`0x${hash("sha256", text).slice(0, 2 * CHECK_BYTES)}`);

/** Adds a checksum to the sum of all records' checksums or, given its negative, subtracts it. */
export const addCheck = (sum: bigint, check: bigint): bigint => BigInt.asUintN(8 * CHECK_BYTES, sum + check);

/** Writes numbers with a checksum, for the store's own records. */
export function encodeNumbers(...numbers: readonly bigint[]): string {
  const text = numbers.join(" ");
  return `${text} ${checkOf(text)}`;
}

/** Returns the numbers; null when there are not `count` of them, or they are not as they were written. */
export function decodeNumbers(text: string, count: number): bigint[] | null {
  if (!/^\d+(?: \d+)*$/.test(text)) return null;
  const numbers = text.split(" ").map(BigInt);
  const check = numbers.pop();
  return numbers.length === count && check === checkOf(numbers.join(" ")) ? numbers : null;
}
