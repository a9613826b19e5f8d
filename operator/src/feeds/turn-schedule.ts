import { type Address, concatHex, numberToHex } from "viem";
import { rankByRendezvousHash } from "../rendezvous-hashing.js";
import { msUntilRoundAfter, roundAt } from "../round-time.js";

/** The work that the nodes of a network take turns at: a chunk of a dataset's feeds, at one beat. */
export interface Turn {
  readonly dataset: Address;
  /** The index of the chunk of the configured feeds, or the number of a feed that has a turn of its own. */
  readonly chunk: number;
  /** The beat's round, in seconds since 1970. */
  readonly round: bigint;
}

/** How long a node waits for one of a better rank, in milliseconds. */
export interface StageLengths {
  /** For one whose provider's report it holds: both the provider and its node are probably up. */
  readonly stageMs: number;
  /** For one whose provider's report it lacks: both may be down. */
  readonly absentStageMs: number;
  /**
   * How much longer others may have waited for reports than this node did: on one side of a broken link requests can fail at
   * once, and on the other they get no answer. It is added once; 0 by default.
   */
  readonly graceLeftMs?: number;
}

/**
 * Returns the round of the beat at this time, in seconds since 1970. Every node asks for the same rounds, and none can choose
 * one that suits it.
 */
export function beatAt(nowMs: number, beatSeconds: number): bigint {
  const round = roundAt(nowMs);
  return round - (round % BigInt(beatSeconds));
}

/** Returns how long it is until the next beat, in milliseconds; above 0. */
export function msUntilNextBeat(nowMs: number, beatSeconds: number): number {
  return msUntilRoundAfter(beatAt(nowMs, beatSeconds) + BigInt(beatSeconds - 1), nowMs);
}

/**
 * Orders the nodes of a turn.
 *
 * @param providers The nodes, by their providers. The order in which they are given does not matter.
 * @returns The providers, best rank first.
 */
export function orderOf({ dataset, chunk, round }: Turn, providers: readonly Address[]): readonly Address[] {
  return rankByRendezvousHash(
    concatHex([dataset, numberToHex(chunk, { size: 4 }), numberToHex(round, { size: 8 })]),
    providers,
  );
}

/**
 * Returns how long a node waits for each node of a better rank, in their order, in milliseconds.
 *
 * @param own The node's provider. A volunteer, which is not in the order, waits for all nodes, so that nobody gains a
 * rank by starting more of them.
 * @param held The providers whose reports of this round the node holds.
 */
export function stagesBefore(
  own: Address | null,
  order: readonly Address[],
  held: ReadonlySet<Address>,
  { stageMs, absentStageMs, graceLeftMs = 0 }: StageLengths,
): readonly number[] {
  const rank = own === null ? -1 : order.indexOf(own);
  const better = rank === -1 ? order : order.slice(0, rank);
  const firstAbsent = better.findIndex((provider) => !held.has(provider));
  return better.map((provider, index) => {
    if (held.has(provider)) return stageMs;
    return index === firstAbsent ? absentStageMs + graceLeftMs : absentStageMs;
  });
}
