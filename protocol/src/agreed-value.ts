import type { Hex } from "viem";
import type { DatasetKind } from "./dataset-kind.js";
import type { QueryStatus } from "./query-status.js";
import { ZERO_VALUE } from "./report.js";

/**
 * Returns the one value that a dataset stores for several reported ones: the lower median, or the most frequent.
 *
 * @param values At least one; 32 bytes each, as lower-case hex.
 */
export function agreedValue(kind: DatasetKind, values: readonly Hex[]): Hex {
  const agreed = kind === "median" ? medianOf(values) : mostFrequent(values);
  if (agreed === undefined) throw new Error("There are no values to agree on. Pass at least one.");
  return agreed;
}

/**
 * Returns true if a reported value agrees with the stored one: for a median dataset within the committee's tolerance,
 * otherwise only if it is the same.
 */
export function agreesWith(kind: DatasetKind, stored: Hex, reported: Hex, toleranceBps: bigint): boolean {
  if (kind === "majority") return reported === stored;
  const [median, value] = [BigInt(stored), BigInt(reported)];
  const distance = value > median ? value - median : median - value;
  return distance * 10_000n <= toleranceBps * median;
}

/** Returns the value that an update with these reports stores: the agreed one when the status is OK, otherwise zero. */
export function storedValue(kind: DatasetKind, status: QueryStatus, reports: readonly { readonly value: Hex }[]): Hex {
  if (status !== "OK") return ZERO_VALUE;
  return agreedValue(
    kind,
    reports.map(({ value }) => value),
  );
}

function medianOf(values: readonly Hex[]): Hex | undefined {
  // Lower-case hex of equal length sorts in numeric order.
  return values.toSorted()[Math.floor((values.length - 1) / 2)];
}

/** Returns the most frequent value. Of several that are equally frequent, it is the first; the contract accepts any. */
export function mostFrequent<T>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return values.find((value) => counts.get(value) === most);
}
