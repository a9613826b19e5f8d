import { isMissing } from "@dataset-oracle/protocol/batch-report";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { agreedValue, type SignedRow } from "@dataset-oracle/protocol/update";
import type { DatasetKind } from "@dataset-oracle/protocol/wire";
import { type Hex, hexToBigInt } from "viem";
import type { StoredPoint } from "../chain/stored-points.js";

/** How often a feed is updated. */
export interface UpdatePolicy {
  /** The age at which it is updated in any case. */
  readonly heartbeatSeconds: number;
  /** How far its value must have moved to be updated before that, in basis points of what is stored; 1 or more. */
  readonly deviationBps: number;
  /** The age below which it is not updated. */
  readonly minIntervalSeconds: number;
}

/** One key that is kept fresh. */
export interface Feed {
  readonly key: Hex;
  readonly policy: UpdatePolicy;
}

/** What the data providers say of a key now. */
export type Observed = { readonly status: "OK"; readonly value: Hex } | { readonly status: "NOT_AVAILABLE" };

/**
 * Whether a feed has to be updated now: never before its heartbeat (`wait`), at its heartbeat (`due`), or in between if
 * its value has moved (`look`).
 *
 * @param now Seconds since 1970.
 */
export function stage(policy: UpdatePolicy, stored: StoredPoint, now: number): "wait" | "look" | "due" {
  const age = now - Number(stored.updatedAt);
  if (age >= policy.heartbeatSeconds) return "due";
  return age >= policy.minIntervalSeconds ? "look" : "wait";
}

/** Whether a value has moved by the feed's threshold or more, or there is one where there was none, or the reverse. */
export function hasMoved(
  { deviationBps }: UpdatePolicy,
  kind: DatasetKind,
  stored: StoredPoint,
  observed: Observed,
): boolean {
  if (observed.status === "NOT_AVAILABLE" || stored.status !== "OK") return observed.status !== stored.status;
  if (kind === "majority") return observed.value !== stored.value;
  const [before, now] = [hexToBigInt(stored.value), hexToBigInt(observed.value)];
  const difference = now > before ? now - before : before - now;
  // A value of 0 has moved when it is another.
  return difference > 0n && difference * 10_000n >= BigInt(deviationBps) * before;
}

/**
 * What rows come to at a place, as the contract will see it.
 *
 * @param members The size of the whole committee.
 * @returns Null without a quorum.
 */
export function observe(
  kind: DatasetKind,
  members: number,
  rows: readonly SignedRow[],
  place: number,
): Observed | null {
  const values = rows.flatMap((row) => (isMissing(row, place) ? [] : (row.values[place] ?? [])));
  if (isQuorum(values.length, members - values.length)) return { status: "OK", value: agreedValue(kind, values) };
  const missing = rows.length - values.length;
  return isQuorum(missing, members - missing) ? { status: "NOT_AVAILABLE" } : null;
}
