import type { Address, Hex } from "viem";
import { roundAt, roundStartMs } from "./beat.js";
import { type Cadence, cadenceOf, type ScheduleSettings } from "./cadence.js";
import { dueAge, type UpdatePolicy, updateNeed } from "./policy.js";
import { keysToStart } from "./rank.js";

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
 *   what they decided, and a quorum is enough. From this step on the keys are `underway`, until the queue is done with them or
 *   they could not be sent. When the rows are there, it takes one more step, and sends nothing if none of the keys is due any
 *   longer.
 *
 * Times are in milliseconds since 1970 by the operator's own clock, durations in milliseconds. Stages and waits go by the
 * monotonic clock, because the time of day can be set. Rounds are bigint, policies and the beat plain numbers; all are in
 * seconds.
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
/** Later in a beat its reports are not gathered: providers refuse older rounds (`signing-window.ts` of the protocol). */
const BEGIN_WITHIN_MS = 1_000;
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
  /** When the stage of the next one began, by the monotonic clock. */
  readonly stageFromMs: number;
  /** The chain's head at that time. */
  readonly stageBlock: bigint;
  /** True while it waits once again, because it saw no new block during the stage. */
  readonly isRepeated: boolean;
  /** The round of this turn that was sent last; null if none was. */
  readonly sentRound: bigint | null;
}

/** A key whose update is due. */
export interface DueKey {
  /** Its stored round as last seen. */
  readonly storedRound: bigint;
  /** The round of the beat at which it became due. */
  readonly dueRound: bigint;
  /** The round of the last beat at which its reports were gathered. */
  readonly askedRound: bigint;
  /**
   * The members of a better rank, in their order. If another round was stored that left the key due, those come first for
   * whom this operator has waited.
   */
  readonly better: readonly Address[];
  /** True while the next gathering has to show whether the value has moved from the round that was stored meanwhile. */
  readonly isInDoubt: boolean;
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
  /** Whether the value on which they agree has moved past the deviation threshold from what is stored now (`hasMoved`). */
  readonly hasMoved: boolean;
}

/** Why a key may not be sent now, although nothing of it is on its way: what it needs does not work. */
export interface Held {
  /** What does not work, such as a sender that cannot pay: the same object for all keys that it holds. */
  readonly by: unknown;
  /** True if it is time to find out whether it works again: then one of the keys is sent that it holds. */
  readonly mayTry: boolean;
}

/** What an operator knows when it takes a step. */
export interface Observed {
  readonly nowMs: number;
  /** The same moment by the monotonic clock. */
  readonly monotonicMs: number;
  /** The chain, read at `latest` for this step; null when it cannot be read. */
  readonly chain: {
    readonly blockNumber: bigint;
    /** In seconds since 1970, for every key; 0 for one that was never stored. */
    readonly storedRounds: ReadonlyMap<Hex, bigint>;
  } | null;
  /** The gathering that has just ended; null for a step that has another reason. */
  readonly gathered: Gathered | null;
  /** The keys that are on their way. Nothing is gathered of them. */
  readonly underway: ReadonlySet<Hex>;
  /** The keys that would fail if they were sent now, as far as is known. Their turns go on. */
  readonly held: ReadonlyMap<Hex, Held>;
  /** How long before the heartbeat an operator that is `alone` starts, in seconds: as it learned. Others ignore it. */
  readonly learnedLeadSeconds: number;
}

/** Keys to send now, with the round of which a quorum reported. */
export interface Send {
  readonly round: bigint;
  readonly keys: readonly Hex[];
}

export interface ScheduleStep {
  readonly state: ScheduleState;
  /** What is due, without waiting for what is only watched for moves; every key that was never stored by itself. */
  readonly gather: readonly Gather[];
  /** In general one group; two when the last gathering did not reach all keys. Keys never stored need updates of their own. */
  readonly send: readonly Send[];
  /** When to take the next step, if no gathering ends before: by the monotonic clock, and later than `monotonicMs`. */
  readonly wakeAtMs: number;
}

/**
 * Returns how long to wait for one member of a better rank: a stage, or a quarter of one if its report did not arrive,
 * because its owner is probably down.
 */
function stageOf(hasArrived: boolean, stageMs: number): number {
  return hasArrived ? stageMs : Math.ceil(stageMs / 4);
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
): ScheduleStep {
  const cadence = cadenceOf(settings);
  const { nowMs, monotonicMs, chain, gathered } = observed;
  const wakeAfter = (ms: number) => monotonicMs + Math.max(1, ms);
  if (chain === null) {
    // The waits start anew, or all operators would send at once when the chain comes back.
    const due = new Map([...state.due].map(([key, one]) => [key, { ...one, turn: null }]));
    const wakeAtMs = wakeAfter(cadence.nextBeatMs(state.beatRound, nowMs) - nowMs);
    return { state: { ...state, due }, gather: [], send: [], wakeAtMs };
  }
  const now = { ...observed, chain };
  const needs = needsOf(cadence, keys, now);
  const due = stillDue(cadence, state.due, needs, now);
  if (gathered !== null && !isAhead(cadence, gathered.gather.round, nowMs))
    useReports(cadence, due, needs, gathered, now);
  const { beatRound, gather, dueAtMs } = beginBeat(cadence, keys, due, needs, state.beatRound, now);
  const { send, turnAtMs } = takeTurns(cadence, due, beatRound, now);
  // Rounding can make a key due at this very moment that is not due yet.
  const nextMs = Math.min(dueAtMs, cadence.nextBeatMs(beatRound, nowMs)) - nowMs;
  const wakeAtMs = wakeAfter(Math.min(nextMs, turnAtMs - monotonicMs));
  return { state: { beatRound, due }, gather, send, wakeAtMs };
}

/** Reports whether the clock was set back since it showed a round: what is more than a beat ahead of it now is over. */
function isAhead({ beatSeconds }: Cadence, round: bigint, nowMs: number): boolean {
  return round > roundAt(nowMs) + BigInt(beatSeconds);
}

type ObservedOnChain = Observed & { readonly chain: NonNullable<Observed["chain"]> };

type Needs = ReadonlyMap<Hex, ReturnType<typeof updateNeed>>;

/** Decides by the age of each key whether it needs an update. */
function needsOf(cadence: Cadence, keys: readonly ScheduledKey[], now: ObservedOnChain): Needs {
  const seenAtMs = cadence.dueTimeMs(now.nowMs);
  const lead = cadence.leadSeconds(now.learnedLeadSeconds);
  return new Map(
    keys.map(({ key, policy }) => {
      return [key, updateNeed(policy, now.chain.storedRounds.get(key) ?? 0n, seenAtMs / 1_000, lead)];
    }),
  );
}

function dueKey(cadence: Cadence, key: Hex, storedRound: bigint, dueRound: bigint): DueKey {
  const better = cadence.betterRanks(key, storedRound);
  return { storedRound, dueRound, askedRound: dueRound, better, isInDoubt: false, turn: null };
}

/**
 * Leaves out what was stored in the meantime, unless the key is due nevertheless. Then it gets the order of the new round,
 * but whoever has been waited for is not waited for again: a member could store one round after another in which it has the
 * best rank, from reports of earlier times, and hold up all others without making the key fresh.
 */
function stillDue(
  cadence: Cadence,
  known: ReadonlyMap<Hex, DueKey>,
  needs: Needs,
  { nowMs, chain: { storedRounds } }: ObservedOnChain,
): Map<Hex, DueKey> {
  const due = new Map<Hex, DueKey>();
  const latest = roundAt(nowMs);
  for (const [key, before] of known) {
    const isOver = isAhead(cadence, before.askedRound, nowMs);
    const one = isOver ? { ...before, dueRound: latest, askedRound: 0n, turn: null } : before;
    const [need, storedRound] = [needs.get(key), storedRounds.get(key) ?? 0n];
    if (storedRound === one.storedRound) {
      due.set(key, { ...one, isInDoubt: one.isInDoubt && need !== "due" });
      continue;
    }
    const { turn, dueRound } = one;
    // What this operator has sent, or was gathered since the value moved, makes the key fresh: its next turn is another one.
    const isFresh = storedRound >= (turn?.sentRound ?? (need === "due" ? latest : dueRound));
    if (isFresh || need === undefined || need === "none") continue;
    const waited = one.better.slice(0, turn?.waitedFor ?? 0);
    const { better } = dueKey(cadence, key, storedRound, dueRound);
    due.set(key, {
      ...one,
      storedRound,
      isInDoubt: need !== "due",
      better: [...waited, ...better.filter((member) => !waited.includes(member))],
    });
  }
  return due;
}

/** Begins the turns of the due keys that have a quorum, ends those of the others, and makes due what has moved. */
function useReports(
  cadence: Cadence,
  due: Map<Hex, DueKey>,
  needs: Needs,
  { gather, results }: Gathered,
  { monotonicMs, chain }: ObservedOnChain,
): void {
  const { round } = gather;
  const begun = {
    waitedFor: 0,
    stageFromMs: monotonicMs,
    stageBlock: chain.blockNumber,
    isRepeated: false,
    sentRound: null,
  };
  for (const key of gather.keys) {
    const result = results.get(key);
    const hasMoved = result?.hasMoved === true && needs.get(key) !== "none";
    const one = due.get(key) ?? (hasMoved ? dueKey(cadence, key, chain.storedRounds.get(key) ?? 0n, round) : null);
    // A later gathering can have ended before this one.
    if (one === null || (one.turn !== null && one.turn.round > round)) continue;
    if (one.isInDoubt && !hasMoved) due.delete(key);
    else if (result !== undefined) {
      const arrived = new Set([...(one.turn?.arrived ?? []), ...result.arrived]);
      due.set(key, { ...one, isInDoubt: false, turn: { ...(one.turn ?? begun), round, arrived } });
    } else if (one.storedRound === 0n) {
      // It goes back to those that were never stored: a key that nobody serves must not hold them up.
      due.delete(key);
    } else due.set(key, { ...one, turn: null });
  }
}

/** Finds what is due, and says what is gathered, if a beat has just begun. @returns `dueAtMs`: when the next key is due. */
function beginBeat(
  cadence: Cadence,
  keys: readonly ScheduledKey[],
  due: Map<Hex, DueKey>,
  needs: Needs,
  lastRound: bigint,
  now: ObservedOnChain,
): { beatRound: bigint; gather: readonly Gather[]; dueAtMs: number } {
  const { nowMs, chain } = now;
  const round = cadence.roundAt(nowMs);
  const beatSeconds = BigInt(cadence.beatSeconds);
  const isEarly = nowMs - roundStartMs(round) < BEGIN_WITHIN_MS;
  // A last beat that lies ahead is one of a clock that was set back.
  const isNewBeat = isEarly && (round - lastRound >= beatSeconds || lastRound > round);
  const isAskedAgain = ({ askedRound }: DueKey) => isEarly && round - askedRound >= beatSeconds;
  const { asked, watched, dueAtMs } = keysToGather(cadence, keys, due, needs, isNewBeat, isAskedAgain, now);

  const storedOf = (key: Hex) => chain.storedRounds.get(key) ?? 0n;
  for (const key of asked) {
    due.set(key, { ...(due.get(key) ?? dueKey(cadence, key, storedOf(key), round)), askedRound: round });
  }
  const stored = asked.filter((key) => storedOf(key) > 0n).sort((a, b) => Number(storedOf(a) - storedOf(b)));
  const groups = [stored, ...asked.filter((key) => storedOf(key) === 0n).map((key) => [key])];
  const gather = groups.map((keys): Gather => {
    return { round, keys, awaited: new Set(keys.flatMap((key) => due.get(key)?.better ?? [])) };
  });
  // The ranks of watched keys are computed only once they have moved, so that any member may be one of a better rank.
  gather.push({ round, keys: watched, awaited: new Set(cadence.ranking.members) });
  return { beatRound: isNewBeat ? round : lastRound, gather: gather.filter(({ keys }) => keys.length > 0), dueAtMs };
}

/**
 * Chooses the keys of which reports are gathered: those that are due, and those that are watched for moves.
 *
 * @returns `dueAtMs`: when the next key is due that is started between beats; infinite if none is.
 */
function keysToGather(
  cadence: Cadence,
  keys: readonly ScheduledKey[],
  due: ReadonlyMap<Hex, DueKey>,
  needs: Needs,
  isNewBeat: boolean,
  isAskedAgain: (one: DueKey) => boolean,
  { nowMs, chain, underway, learnedLeadSeconds }: ObservedOnChain,
): { asked: readonly Hex[]; watched: readonly Hex[]; dueAtMs: number } {
  const lead = cadence.leadSeconds(learnedLeadSeconds);
  const asked: Hex[] = [];
  const watched: Hex[] = [];
  const neverStored: Hex[] = [];
  let started = 0;
  let dueAtMs = Number.POSITIVE_INFINITY;
  for (const { key, policy } of keys) {
    const storedRound = chain.storedRounds.get(key) as bigint;
    const [known, need] = [due.get(key), needs.get(key)];
    if (storedRound === 0n && (known !== undefined || underway.has(key))) started++;
    if (underway.has(key)) continue;
    if (known !== undefined) {
      if (isAskedAgain(known)) asked.push(key);
    } else if (need === "due") {
      if (storedRound > 0n && (isNewBeat || cadence.startsBetweenBeats)) asked.push(key);
      if (storedRound === 0n && isNewBeat) neverStored.push(key);
    } else {
      if (need === "if_moved" && isNewBeat) watched.push(key);
      if (cadence.startsBetweenBeats) dueAtMs = Math.min(dueAtMs, (Number(storedRound) + dueAge(policy, lead)) * 1_000);
    }
  }
  const { dataset } = cadence.ranking;
  asked.push(...keysToStart(dataset, cadence.roundAt(nowMs), neverStored, cadence.startsLeft(started)));
  return { asked, watched, dueAtMs };
}

/**
 * Goes on with all turns, and says which keys are sent, because their turn has come.
 *
 * @returns `turnAtMs`: when the next stage ends, by the monotonic clock.
 */
function takeTurns(
  { stageMs, beatSeconds }: Cadence,
  due: Map<Hex, DueKey>,
  beatRound: bigint,
  { monotonicMs, chain, underway, held }: ObservedOnChain,
): { send: readonly Send[]; turnAtMs: number } {
  const groups = new Map<bigint, Hex[]>();
  /** What is tried in this step. */
  const tried = new Set<unknown>();
  let turnAtMs = Number.POSITIVE_INFINITY;
  for (const [key, one] of [...due]) {
    if (one.turn === null) continue;
    const { turn, endsAtMs } = advance(one.turn, one.better, stageMs, monotonicMs, chain.blockNumber);
    due.set(key, { ...one, turn });
    if (underway.has(key)) continue;
    if (endsAtMs !== null) {
      turnAtMs = Math.min(turnAtMs, endsAtMs);
      continue;
    }
    // Every round is sent once. One older than the last beat's has gone: the gathering after it did not end.
    if (turn.round === turn.sentRound || turn.round < beatRound - BigInt(beatSeconds)) continue;
    if (one.isInDoubt || turn.round <= one.storedRound) continue;
    const holder = held.get(key);
    if (holder !== undefined) {
      if (!holder.mayTry || tried.has(holder.by)) continue;
      tried.add(holder.by);
      // Another key is tried next: this one may fail for a reason of its own.
      due.delete(key);
    }
    due.set(key, { ...one, turn: { ...turn, sentRound: turn.round } });
    const group = groups.get(turn.round);
    if (group === undefined) groups.set(turn.round, [key]);
    else group.push(key);
  }
  return { send: [...groups].map(([round, keys]) => ({ round, keys })), turnAtMs };
}

/**
 * Passes the stages that are over. After one in which it saw no new block, it waits once again.
 *
 * @returns `endsAtMs`: when the present stage ends; null if there is none left.
 */
function advance(
  turn: Turn,
  better: readonly Address[],
  stageMs: number,
  monotonicMs: number,
  blockNumber: bigint,
): { turn: Turn; endsAtMs: number | null } {
  let { waitedFor, stageFromMs, stageBlock, isRepeated } = turn;
  let endsAtMs: number | null = null;
  for (let next = better[waitedFor]; next !== undefined; next = better[waitedFor]) {
    const hasArrived = turn.arrived.has(next);
    endsAtMs = stageFromMs + stageOf(hasArrived, stageMs);
    if (monotonicMs < endsAtMs) break;
    // Nobody sends for an absent member, so that no block is expected in its part of a stage.
    isRepeated = hasArrived && !isRepeated && blockNumber === stageBlock;
    if (!isRepeated) waitedFor++;
    stageFromMs = endsAtMs;
    stageBlock = blockNumber;
    endsAtMs = null;
  }
  return { turn: { ...turn, waitedFor, stageFromMs, stageBlock, isRepeated }, endsAtMs };
}
