import { type Address, type Hex, keccak256 } from "viem";
import { beatAt, roundAt, roundStartMs } from "./beat.js";
import type { UpdatePolicy } from "./policy.js";
import { type Ranking, rankMembers } from "./rank.js";

/** What the lead allows for gathering the reports and seeing the block. */
const LEAD_SPARE_SECONDS = 2;
/** How many keys that were never stored start at one beat, unless an operator is alone. Each needs its own transaction. */
export const STARTS_PER_BEAT = 8;
/**
 * How many keys that were never stored an operator that is alone has on their way at a time: each needs reports and a
 * transaction of its own, and a thousand at once would ask a large committee for tens of thousands of reports.
 */
export const MAX_STARTS_ALONE = 32;

/**
 * For whom an operator sends: for itself, without waiting for anybody (`alone`); in the place of a member; or after the last
 * rank (`volunteer`).
 */
export type Role = "alone" | "volunteer" | Address;

/** What does not change from step to step. */
export interface ScheduleSettings {
  /** The dataset, and the members that run an operator for its keys under the same policies. */
  readonly ranking: Ranking;
  /** With a member's address, one of the ranking's, in the same spelling. */
  readonly role: Role;
  /** A whole number, 1 or more. */
  readonly beatSeconds: number;
  /**
   * A block interval, and 1.5 s for a transaction to reach the block's maker, and for the block to reach this operator's node;
   * the same for all members.
   */
  readonly stageMs: number;
}

/** What sets an operator that is alone apart from those that take turns, which all have to decide the same. */
export interface Cadence extends Pick<ScheduleSettings, "ranking" | "beatSeconds" | "stageMs"> {
  /** True if a key is started when it is due, and not only when a beat begins. */
  readonly startsBetweenBeats: boolean;
  /** Returns how long before the heartbeat ends an update starts, in seconds. @param learned As it learned. */
  leadSeconds(learned: number): number;
  /** Returns the round of the beat at this time. */
  roundAt(nowMs: number): bigint;
  /** Returns the time at which the ages of keys count, in milliseconds since 1970. */
  dueTimeMs(nowMs: number): number;
  nextBeatMs(beatRound: bigint, nowMs: number): number;
  /** Returns how many keys that were never stored may start. @param started How many have. */
  startsLeft(started: number): number;
  /** Lists the members for whom it waits, best rank first. @param storedRound Of the key. */
  betterRanks(key: Hex, storedRound: bigint): readonly Address[];
}

export function cadenceOf(settings: ScheduleSettings): Cadence {
  return settings.role === "alone" ? aloneAt(settings) : inTurnAt(settings);
}

/** It starts each key when that is due, by what it has learned of its own updates. */
function aloneAt(settings: ScheduleSettings): Cadence {
  const { beatSeconds } = settings;
  return {
    ...settings,
    startsBetweenBeats: true,
    leadSeconds: (learned) => learned,
    roundAt,
    dueTimeMs: (nowMs) => nowMs,
    nextBeatMs: (beatRound, nowMs) => {
      const planned = roundStartMs(beatRound + BigInt(beatSeconds));
      return planned > nowMs ? planned : nowMs + beatSeconds * 1_000;
    },
    startsLeft: (started) => Math.max(0, MAX_STARTS_ALONE - started),
    betterRanks: () => [],
  };
}

/** All members take the time at which the beat began, so that they find the same keys due. */
function inTurnAt(settings: ScheduleSettings): Cadence {
  const { ranking, role, beatSeconds } = settings;
  return {
    ...settings,
    startsBetweenBeats: false,
    leadSeconds: () => sharedLeadSeconds(settings),
    roundAt: (nowMs) => beatAt(nowMs, beatSeconds),
    dueTimeMs: (nowMs) => roundStartMs(beatAt(nowMs, beatSeconds)),
    nextBeatMs: (_, nowMs) => roundStartMs(beatAt(nowMs, beatSeconds) + BigInt(beatSeconds)),
    startsLeft: () => STARTS_PER_BEAT,
    betterRanks: (key, storedRound) => betterThan(role, ranking.orderOf(keccak256(key), storedRound)),
  };
}

/**
 * Returns how long before the heartbeat ends an update starts, in seconds: the same for all who have the same settings. An
 * operator that is alone learns its lead instead.
 */
export function sharedLeadSeconds({ beatSeconds, stageMs }: Pick<ScheduleSettings, "beatSeconds" | "stageMs">): number {
  return beatSeconds + stageMs / 1_000 + LEAD_SPARE_SECONDS;
}

/** Returns why a heartbeat is too short for those that take turns, and what to do; null if it is not. */
export function heartbeatFault(
  { heartbeatSeconds }: Pick<UpdatePolicy, "heartbeatSeconds">,
  settings: Pick<ScheduleSettings, "role" | "beatSeconds" | "stageMs">,
): string | null {
  const least = 2 * sharedLeadSeconds(settings);
  if (settings.role === "alone" || heartbeatSeconds >= least) return null;
  return (
    `heartbeatSeconds is ${heartbeatSeconds}, below ${least}: twice a beat of ${settings.beatSeconds} s, a stage of ` +
    `${settings.stageMs / 1_000} s and ${LEAD_SPARE_SECONDS} s, in which the members take turns. Raise it, or shorten the beat.`
  );
}

/**
 * Returns how long to wait, from finding that a member contradicted itself, before accusing it: a stage for each of the
 * other members that has a better rank in the order of that round.
 */
export function accusationWaitMs(
  { ranking, role, stageMs }: Pick<ScheduleSettings, "ranking" | "role" | "stageMs">,
  accused: Address,
  round: bigint,
): number {
  const others = ranking.members.filter((member) => member !== accused);
  const better = role === "alone" ? [] : betterThan(role, rankMembers(ranking.dataset, { round }, others));
  return better.length * stageMs;
}

/** Returns those of an order for whom an operator waits that takes turns, best rank first. */
function betterThan(role: Role, order: readonly Address[]): readonly Address[] {
  // A volunteer has no rank.
  const rank = (order as readonly Role[]).indexOf(role);
  return rank === -1 ? order : order.slice(0, rank);
}
