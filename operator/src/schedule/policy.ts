import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import type { DatasetKind } from "@dataset-oracle/protocol/dataset-kind";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { type Static, Type } from "@sinclair/typebox";
import { type Hex, hexToBigInt } from "viem";

const seconds = (description: string) => Type.Integer({ minimum: 1, maximum: 31_536_000, description });

/** When a key is updated, as the configuration says it. */
export const policySettings = {
  heartbeatSeconds: seconds(
    "The age that a stored value should not exceed, even if it has not changed: updates start early enough to be mined " +
      "in time.",
  ),
  deviationBps: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description:
      "The deviation threshold: the change that triggers an earlier update, in basis points of the stored value.",
  }),
  minIntervalSeconds: seconds("The age below which a key is not updated, in seconds."),
};

const PolicySettings = Type.Object(policySettings);

/** When a key is updated. */
export type UpdatePolicy = Readonly<Static<typeof PolicySettings>>;

/** @throws ConfigError @param at Where it is configured. */
export function planPolicy(
  { heartbeatSeconds, deviationBps, minIntervalSeconds }: Static<typeof PolicySettings>,
  at: string,
): UpdatePolicy {
  if (minIntervalSeconds > heartbeatSeconds) {
    throw new ConfigError(
      `${at}: minIntervalSeconds is ${minIntervalSeconds}, above the heartbeatSeconds of ${heartbeatSeconds}. Lower it.`,
    );
  }
  return { heartbeatSeconds, deviationBps, minIntervalSeconds };
}

/** The value of a key on which a quorum of the providers agrees now; a value is 32 bytes. */
export type ObservedValue = { readonly status: "OK"; readonly value: Hex } | { readonly status: "NOT_AVAILABLE" };

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
 * Decides by its age whether a key is updated: not before its minimum interval (`none`), from `dueAge` on (`due`), and in
 * between only if its value has moved (`if_moved`).
 *
 * @param storedRound Seconds since 1970; 0 if it was never stored, which makes it due.
 * @param now Seconds since 1970.
 */
export function updateNeed(
  policy: UpdatePolicy,
  storedRound: bigint,
  now: number,
  leadSeconds: number,
): "none" | "if_moved" | "due" {
  const age = now - Number(storedRound);
  if (age >= dueAge(policy, leadSeconds)) return "due";
  return age >= policy.minIntervalSeconds ? "if_moved" : "none";
}

/**
 * Reports whether a value has moved by the deviation threshold (in a majority dataset, has changed at all), or has
 * become available or unavailable.
 */
export function hasMoved(
  { deviationBps }: UpdatePolicy,
  kind: DatasetKind,
  stored: QueryResult,
  observed: ObservedValue,
): boolean {
  if (observed.status === "NOT_AVAILABLE" || stored.status !== "OK") return observed.status !== stored.status;
  if (kind === "majority") return observed.value !== stored.output;
  const [before, now] = [stored.value, hexToBigInt(observed.value)];
  const difference = now > before ? now - before : before - now;
  // From 0, any other value is a move.
  return difference > 0n && difference * 10_000n >= BigInt(deviationBps) * before;
}
