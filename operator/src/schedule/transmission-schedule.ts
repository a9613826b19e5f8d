import { type Address, type Hex, keccak256 } from "viem";
import { beatAt, roundAt, roundStartMs } from "./beat.js";
import { dueAge, type UpdatePolicy, updateNeed } from "./policy.js";
import { keysToStart, type Ranking, rankMembers } from "./rank.js";

/**
 * The transmission schedule: which keys of one dataset an operator gathers reports of, and which it sends now. Operators do
 * not talk to each other. All of them compute the same order from what the chain says, each waits for those of a better rank,
 * and looks at the chain before it sends.
 *
 * `step` decides, and performs nothing. Its caller takes a step when the time of the one before has come (`wakeAtMs`) and when
 * a gathering has ended, each time with the chain as it is at that moment, and then does what the step says:
 *
 * - `gather`: for each, it asks every provider for one row per chunk of the keys, asks those that did not answer once more, and
 *   takes a step with what came, chunk by chunk (the constants below say when).
 * - `send`: it makes one update of each group's keys and round, and hands it to the transaction queue. The providers are asked
 *   for rows of exactly these keys, unless the gathered rows have no others: a batch stores every key of its rows. They repeat
 *   what they decided, and a quorum is enough. From this step on the keys are `busy`, until the queue is done with them or
 *   they could not be sent. When the rows are there, it takes one more step, and sends nothing if none of the keys is due any
 *   longer.
 *
 * Times are in milliseconds since 1970 by the operator's own clock, durations in milliseconds. Rounds are bigint, policies and
 * the beat plain numbers; all are in seconds.
 */

/** A provider that has not answered this long after a gathering began is asked once more. */
export const ASK_AGAIN_AFTER_MS = 400;
/**
 * A gathering ends when a quorum and all members of a better rank (`Gather.awaited`) have answered, and otherwise this long
 * after it had a quorum.
 */
export const GRACE_MS = 500;
/** It then lasts at least this long, so that a member that was asked once more can answer and does not count as down. */
export const LEAST_GATHER_MS = 800;
/** It never lasts longer than this. */
export const MOST_GATHER_MS = 2_000;
/** What the lead allows for gathering the reports and seeing the block. */
const LEAD_SPARE_SECONDS = 2;
/** Later in a beat its reports are not gathered: providers refuse older rounds (`signing-window.ts` of the protocol). */
const BEGIN_WITHIN_MS = 1_000;
/** How many keys that were never stored start at one beat, unless an operator is alone. Each needs its own transaction. */
export const STARTS_PER_BEAT = 8;

/**
 * For whom an operator sends: for itself, without waiting for anybody (`alone`); in the place of a member; or after the last
 * rank (`volunteer`).
 */
export type Sender = "alone" | "volunteer" | Address;

/** What does not change from step to step. */
export interface ScheduleSettings {
  /** The dataset, and the members that run an operator for its keys under the same policies. */
  readonly ranking: Ranking;
  /** With a member's address, one of the ranking's, in the same spelling. */
  readonly sender: Sender;
  /** A whole number, 1 or more. */
  readonly beatSeconds: number;
  /**
   * A block interval, and 1.5 s for a transaction to reach the block's maker, and for the block to reach this operator's node;
   * the same for all members.
   */
  readonly stageMs: number;
}

/** A key that is kept fresh. */
export interface ScheduledKey {
  readonly key: Hex;
  readonly policy: UpdatePolicy;
}

/** A key's turn: how far this operator has waited for those of a better rank. */
interface Turn {
  /** The latest round that had a quorum. */
  readonly round: bigint;
  /** The members whose reports arrived, of that round or of an earlier one of this turn: a request can get lost. */
  readonly arrived: ReadonlySet<Address>;
  /** How many of the better ranks have been waited for. */
  readonly waitedFor: number;
  /** When the stage of the next one began. */
  readonly stageFromMs: number;
  /** The chain's head at that time. */
  readonly stageBlock: bigint;
  /** True while a stage in which no new block was seen is waited for once more. */
  readonly isRepeated: boolean;
  /** The round of this turn that was sent last; null if none was. */
  readonly sentRound: bigint | null;
}

/** A key whose update is due. */
export interface DueKey {
  /** Its stored round when it became due. Once another is stored, it is no longer due. */
  readonly storedRound: bigint;
  /** The round of the last beat at which its reports were gathered. */
  readonly askedRound: bigint;
  /** The members of a better rank, in their order. */
  readonly better: readonly Address[];
  /** Null without a quorum. */
  readonly turn: Turn | null;
}

/** What an operator remembers of one dataset from step to step. Nothing of it is worth keeping on disk. */
export interface ScheduleState {
  /** The round of the last beat that began. */
  readonly beatRound: bigint;
  readonly due: ReadonlyMap<Hex, DueKey>;
}

export const INITIAL_STATE: ScheduleState = { beatRound: 0n, due: new Map() };

/** Keys of which reports are gathered together. */
export interface Gather {
  readonly round: bigint;
  /** Sorted by stored round, so that chunks keep together what was stored together. */
  readonly keys: readonly Hex[];
  /** Once these members and a quorum have answered, nobody else is waited for. */
  readonly awaited: ReadonlySet<Address>;
  /** The stored rounds at the time, to be handed back. */
  readonly storedRounds: ReadonlyMap<Hex, bigint>;
}

/** A gathering, or one of its chunks, that has ended. */
export interface Gathered {
  /** What was asked for; of a chunk, with its keys only. */
  readonly gather: Gather;
  /** What is known of each key; those without a quorum are left out. */
  readonly results: ReadonlyMap<Hex, GatheredKey>;
}

export interface GatheredKey {
  /** The members whose reports of the key arrived, spelled as in the ranking; with or without data. */
  readonly arrived: ReadonlySet<Address>;
  /** Whether the value on which they agree has moved past the deviation threshold (`hasMoved`). */
  readonly hasMoved: boolean;
}

/** What an operator knows when it takes a step. */
export interface Observed {
  readonly nowMs: number;
  /** The chain, read at `latest` for this step; null when it cannot be read. */
  readonly chain: {
    readonly blockNumber: bigint;
    /** In seconds since 1970, for every key; 0 for one that was never stored. */
    readonly storedRounds: ReadonlyMap<Hex, bigint>;
  } | null;
  /** The gathering that has just ended; null for a step that has another reason. */
  readonly gathered: Gathered | null;
  /** The keys that must not be sent now: the queue has them on their way, or they failed and are tried again later. */
  readonly busy: ReadonlySet<Hex>;
  /** How long before the heartbeat an operator that is `alone` starts, in seconds: as it learned. Others ignore it. */
  readonly learnedLeadSeconds: number;
}

/** Keys to send now, with the round of which a quorum reported. */
export interface Send {
  readonly round: bigint;
  readonly keys: readonly Hex[];
}

export interface Step {
  readonly state: ScheduleState;
  /** What is due, without waiting for what is only watched for moves; every key that was never stored by itself. */
  readonly gather: readonly Gather[];
  /** In general one group; two when the last gathering did not reach all keys. Keys never stored need updates of their own. */
  readonly send: readonly Send[];
  /** When to take the next step, if no gathering ends before; later than `nowMs`. */
  readonly wakeAtMs: number;
}

/**
 * Returns how long before the heartbeat ends an update starts, in seconds: the same for all who have the same settings. An
 * operator that is alone learns its lead instead.
 */
export function sharedLeadSeconds({ beatSeconds, stageMs }: Pick<ScheduleSettings, "beatSeconds" | "stageMs">): number {
  return beatSeconds + stageMs / 1_000 + LEAD_SPARE_SECONDS;
}

/** Returns why a heartbeat is too short for a committee, and what to do; null if it is not. */
export function heartbeatFault(
  { heartbeatSeconds }: UpdatePolicy,
  settings: Pick<ScheduleSettings, "beatSeconds" | "stageMs">,
): string | null {
  const least = 2 * sharedLeadSeconds(settings);
  if (heartbeatSeconds >= least) return null;
  return (
    `heartbeatSeconds is ${heartbeatSeconds}, below ${least}: twice a beat of ${settings.beatSeconds} s, a stage of ` +
    `${settings.stageMs / 1_000} s and ${LEAD_SPARE_SECONDS} s, in which the members take turns. Raise it, or shorten the beat.`
  );
}

/**
 * Returns how long to wait for one member of a better rank: a stage, or a quarter of one if its report did not arrive,
 * because its owner is probably down.
 */
function stageOf(hasArrived: boolean, stageMs: number): number {
  return hasArrived ? stageMs : Math.ceil(stageMs / 4);
}

/** Returns those of an order for whom an operator waits, best rank first. */
function betterThan(sender: Sender, order: readonly Address[]): readonly Address[] {
  if (sender === "alone") return [];
  // A volunteer has no rank.
  const rank = (order as readonly Sender[]).indexOf(sender);
  return rank === -1 ? order : order.slice(0, rank);
}

/**
 * Returns how long to wait, from finding that a member contradicted itself, before accusing it: a stage for each of the
 * other members that has a better rank in the order of that round.
 */
export function accusationWaitMs(
  { ranking, sender, stageMs }: Pick<ScheduleSettings, "ranking" | "sender" | "stageMs">,
  accused: Address,
  round: bigint,
): number {
  const others = ranking.members.filter((member) => member !== accused);
  return betterThan(sender, rankMembers(ranking.dataset, { round }, others)).length * stageMs;
}

/**
 * Takes a step of the schedule.
 *
 * @param keys All keys of the dataset that this operator keeps fresh.
 */
export function step(
  settings: ScheduleSettings,
  keys: readonly ScheduledKey[],
  state: ScheduleState,
  observed: Observed,
): Step {
  const { nowMs, chain, gathered } = observed;
  if (chain === null) {
    // The waits start anew, or all operators would send at once when the chain comes back.
    const due = new Map([...state.due].map(([key, one]) => [key, { ...one, turn: null }]));
    return { state: { ...state, due }, gather: [], send: [], wakeAtMs: nextBeatMs(settings, state.beatRound, nowMs) };
  }
  const due = new Map([...state.due].filter(([key, { storedRound }]) => chain.storedRounds.get(key) === storedRound));
  const now = { ...observed, chain };
  if (gathered !== null) useReports(settings, due, gathered, now);
  const { beatRound, gather, dueAtMs } = beginBeat(settings, keys, due, state.beatRound, now);
  const { send, turnAtMs } = takeTurns(settings, due, beatRound, now);
  // Rounding can make a key due at this very moment that is not due yet.
  const wakeAtMs = Math.max(nowMs + 1, Math.min(dueAtMs, turnAtMs, nextBeatMs(settings, beatRound, nowMs)));
  return { state: { beatRound, due }, gather, send, wakeAtMs };
}

function nextBeatMs({ sender, beatSeconds }: ScheduleSettings, beatRound: bigint, nowMs: number): number {
  if (sender !== "alone") return roundStartMs(beatAt(nowMs, beatSeconds) + BigInt(beatSeconds));
  const planned = roundStartMs(beatRound + BigInt(beatSeconds));
  return planned > nowMs ? planned : nowMs + beatSeconds * 1_000;
}

type ObservedOnChain = Observed & { readonly chain: NonNullable<Observed["chain"]> };

function dueKey({ sender, ranking }: ScheduleSettings, key: Hex, storedRound: bigint, askedRound: bigint): DueKey {
  const better = betterThan(sender, ranking.orderOf(keccak256(key), storedRound));
  return { storedRound, askedRound, better, turn: null };
}

/** Begins the turns of the due keys that have a quorum, ends those of the others, and makes due what has moved. */
function useReports(
  settings: ScheduleSettings,
  due: Map<Hex, DueKey>,
  { gather, results }: Gathered,
  { nowMs, chain }: ObservedOnChain,
): void {
  const { round, storedRounds } = gather;
  const begun = { waitedFor: 0, stageFromMs: nowMs, stageBlock: chain.blockNumber, isRepeated: false, sentRound: null };
  for (const key of gather.keys) {
    const storedRound = storedRounds.get(key) as bigint;
    // What was stored in the meantime is fresh.
    if (chain.storedRounds.get(key) !== storedRound) continue;
    const result = results.get(key);
    const one = due.get(key) ?? (result?.hasMoved ? dueKey(settings, key, storedRound, round) : null);
    // A later gathering can have ended before this one.
    if (one === null || (one.turn !== null && one.turn.round > round)) continue;
    if (result !== undefined) {
      const arrived = new Set([...(one.turn?.arrived ?? []), ...result.arrived]);
      due.set(key, { ...one, turn: { ...(one.turn ?? begun), round, arrived } });
    } else if (one.storedRound === 0n) {
      // It goes back to those that were never stored: a key that nobody serves must not hold them up.
      due.delete(key);
    } else due.set(key, { ...one, turn: null });
  }
}

/**
 * Finds what is due, and says what is gathered, if a beat has just begun. An operator that is alone starts a key when it is
 * due, between beats too.
 *
 * @returns `dueAtMs`: when an operator that is alone has to look again.
 */
function beginBeat(
  settings: ScheduleSettings,
  keys: readonly ScheduledKey[],
  due: Map<Hex, DueKey>,
  lastRound: bigint,
  { nowMs, chain: { storedRounds }, busy, learnedLeadSeconds }: ObservedOnChain,
): { beatRound: bigint; gather: readonly Gather[]; dueAtMs: number } {
  const { ranking } = settings;
  const isAlone = settings.sender === "alone";
  const beatSeconds = BigInt(settings.beatSeconds);
  const round = isAlone ? roundAt(nowMs) : beatAt(nowMs, settings.beatSeconds);
  const isEarly = nowMs - roundStartMs(round) < BEGIN_WITHIN_MS;
  const isNewBeat = isEarly && round - lastRound >= beatSeconds;
  // All members take the time at which the beat began, so that they find the same keys due.
  const seenAt = (isAlone ? nowMs : roundStartMs(round)) / 1_000;
  const lead = isAlone ? learnedLeadSeconds : sharedLeadSeconds(settings);
  const asked: Hex[] = [];
  const watched: Hex[] = [];
  const neverStored: Hex[] = [];
  let dueAtMs = Number.POSITIVE_INFINITY;
  for (const { key, policy } of keys) {
    const storedRound = storedRounds.get(key) as bigint;
    if (busy.has(key)) continue;
    const known = due.get(key);
    const need = updateNeed(policy, storedRound, seenAt, lead);
    if (known !== undefined) {
      if (isEarly && round - known.askedRound >= beatSeconds) asked.push(key);
    } else if (need === "due") {
      if (storedRound > 0n && (isNewBeat || isAlone)) asked.push(key);
      if (storedRound === 0n && isNewBeat) neverStored.push(key);
    } else {
      if (need === "if_moved" && isNewBeat) watched.push(key);
      if (isAlone) dueAtMs = Math.min(dueAtMs, (Number(storedRound) + dueAge(policy, lead)) * 1_000);
    }
  }
  const startCount = isAlone ? neverStored.length : STARTS_PER_BEAT;
  asked.push(...keysToStart(ranking.dataset, round, neverStored, startCount));

  const storedOf = (key: Hex) => storedRounds.get(key) ?? 0n;
  for (const key of asked) {
    due.set(key, { ...(due.get(key) ?? dueKey(settings, key, storedOf(key), round)), askedRound: round });
  }
  const stored = asked.filter((key) => storedOf(key) > 0n).sort((a, b) => Number(storedOf(a) - storedOf(b)));
  const groups = [stored, ...asked.filter((key) => storedOf(key) === 0n).map((key) => [key])];
  const gather = groups.map((keys): Gather => {
    return { round, keys, awaited: new Set(keys.flatMap((key) => due.get(key)?.better ?? [])), storedRounds };
  });
  // The ranks of watched keys are computed only once they have moved, so that any member may be one of a better rank.
  gather.push({ round, keys: watched, awaited: new Set(ranking.members), storedRounds });
  return { beatRound: isNewBeat ? round : lastRound, gather: gather.filter(({ keys }) => keys.length > 0), dueAtMs };
}

/**
 * Goes on with all turns, and says which keys are sent, because their turn has come.
 *
 * @returns `turnAtMs`: when the next stage ends.
 */
function takeTurns(
  { stageMs, beatSeconds }: ScheduleSettings,
  due: Map<Hex, DueKey>,
  beatRound: bigint,
  { nowMs, chain, busy }: ObservedOnChain,
): { send: readonly Send[]; turnAtMs: number } {
  const groups = new Map<bigint, Hex[]>();
  let turnAtMs = Number.POSITIVE_INFINITY;
  for (const [key, one] of due) {
    if (one.turn === null) continue;
    const { turn, endsAtMs } = advance(one.turn, one.better, stageMs, nowMs, chain.blockNumber);
    due.set(key, { ...one, turn });
    if (busy.has(key)) continue;
    if (endsAtMs !== null) {
      turnAtMs = Math.min(turnAtMs, endsAtMs);
      continue;
    }
    // Every round is sent once. One older than the last beat's has gone: the gathering after it did not end.
    if (turn.round === turn.sentRound || turn.round < beatRound - BigInt(beatSeconds)) continue;
    due.set(key, { ...one, turn: { ...turn, sentRound: turn.round } });
    const group = groups.get(turn.round);
    if (group === undefined) groups.set(turn.round, [key]);
    else group.push(key);
  }
  return { send: [...groups].map(([round, keys]) => ({ round, keys })), turnAtMs };
}

/**
 * Passes the stages that are over. One in which no new block was seen is waited for once more.
 *
 * @returns `endsAtMs`: when the present stage ends; null if there is none left.
 */
function advance(
  turn: Turn,
  better: readonly Address[],
  stageMs: number,
  nowMs: number,
  blockNumber: bigint,
): { turn: Turn; endsAtMs: number | null } {
  let { waitedFor, stageFromMs, stageBlock, isRepeated } = turn;
  let endsAtMs: number | null = null;
  for (let next = better[waitedFor]; next !== undefined; next = better[waitedFor]) {
    const hasArrived = turn.arrived.has(next);
    endsAtMs = stageFromMs + stageOf(hasArrived, stageMs);
    if (nowMs < endsAtMs) break;
    // Nobody sends for an absent member, so that no block is expected in its part of a stage.
    isRepeated = hasArrived && !isRepeated && blockNumber === stageBlock;
    if (!isRepeated) waitedFor++;
    stageFromMs = endsAtMs;
    stageBlock = blockNumber;
    endsAtMs = null;
  }
  return { turn: { ...turn, waitedFor, stageFromMs, stageBlock, isRepeated }, endsAtMs };
}
