import { agreedValue } from "@dataset-oracle/protocol/agreed-value";
import { isMissing } from "@dataset-oracle/protocol/batch-report";
import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import type { SignedRow } from "@dataset-oracle/protocol/encode-update";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { type Hex, hexToBigInt } from "viem";

/** When a feed is updated. */
export interface UpdatePolicy {
  /** The age that its stored value should not exceed, even if it has not moved. */
  readonly heartbeatSeconds: number;
  /** The deviation threshold: the move that triggers an earlier update, in basis points of the stored value; 1 or more. */
  readonly deviationBps: number;
  /** The age below which it is never updated. */
  readonly minIntervalSeconds: number;
}

/** A key that is kept fresh. */
export interface Feed {
  readonly key: Hex;
  readonly policy: UpdatePolicy;
}

/** A feed with its stored value. */
export interface StoredFeed extends Feed {
  readonly stored: QueryResult;
}

/** The value of a key on which the data providers agree now. */
export type Observed = { readonly status: "OK"; readonly value: Hex } | { readonly status: "NOT_AVAILABLE" };

/**
 * Returns the age at which an update is started, in seconds, so that it is mined within the heartbeat. It is at least the
 * minimum interval, and at least half the heartbeat, so that slow updates cost at most twice as much.
 *
 * @param leadSeconds How long before the heartbeat an update has to be started.
 */
export function dueAge({ heartbeatSeconds, minIntervalSeconds }: UpdatePolicy, leadSeconds: number): number {
  return Math.max(minIntervalSeconds, heartbeatSeconds / 2, heartbeatSeconds - leadSeconds);
}

/**
 * Decides by its age whether a feed is updated: not before its minimum interval (`wait`), from `dueAge` on (`due`), and in
 * between only if its value has moved (`look`).
 *
 * @param now Seconds since 1970.
 */
export function stage(
  policy: UpdatePolicy,
  stored: QueryResult,
  now: number,
  leadSeconds: number,
): "wait" | "look" | "due" {
  const age = now - Number(stored.updatedAt);
  if (age >= dueAge(policy, leadSeconds)) return "due";
  return age >= policy.minIntervalSeconds ? "look" : "wait";
}

/** Reports whether a value has moved by the deviation threshold, or has become available or unavailable. */
export function hasMoved(
  { deviationBps }: UpdatePolicy,
  kind: DatasetKind,
  stored: QueryResult,
  observed: Observed,
): boolean {
  if (observed.status === "NOT_AVAILABLE" || stored.status !== "OK") return observed.status !== stored.status;
  if (kind === "majority") return observed.value !== stored.output;
  const [before, now] = [stored.value, hexToBigInt(observed.value)];
  const difference = now > before ? now - before : before - now;
  // From 0, any other value is a move.
  return difference > 0n && difference * 10_000n >= BigInt(deviationBps) * before;
}

/**
 * Aggregates one key of a batch's rows as the contract will.
 *
 * @param members The size of the whole committee.
 * @param index The key's, in the batch.
 * @returns Null without a quorum.
 */
export function observe(
  kind: DatasetKind,
  members: number,
  rows: readonly SignedRow[],
  index: number,
): Observed | null {
  const values = rows.flatMap((row) => (isMissing(row, index) ? [] : (row.values[index] ?? [])));
  if (isQuorum(values.length, members - values.length)) return { status: "OK", value: agreedValue(kind, values) };
  const missing = rows.length - values.length;
  return isQuorum(missing, members - missing) ? { status: "NOT_AVAILABLE" } : null;
}
