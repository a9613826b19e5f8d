import { numberToHex } from "viem";
import { sharedLeadSeconds } from "../../../operator/dist/schedule/cadence.js";
import { dueAge, type UpdatePolicy } from "../../../operator/dist/schedule/policy.js";
import { Ranking } from "../../../operator/dist/schedule/rank.js";
import { EventQueue } from "./event-queue.js";
import type { Faults, Model } from "./model.js";
import { EvenChance, type SeededRandom } from "./random.js";
import { SimulatedChain } from "./simulated-chain.js";
import { type SharedWorld, SimulatedOperator } from "./simulated-operator.js";

export const DATASET = numberToHex(0xda7a, { size: 20 });
export const BEAT_SECONDS = 5;
/** A stage is a block interval and this. */
export const STAGE_SPARE_MS = 1_500;
const HEARTBEAT = { heartbeatSeconds: 600, deviationBps: 50, minIntervalSeconds: 570 };
const DEVIATION = { heartbeatSeconds: 600, deviationBps: 50, minIntervalSeconds: 120 };
/**
 * The episodes of a network: each begins at the beat at which its keys are due, and ends when they are stored. Two of the five
 * keys were stored together; another is due because its value moves, which all providers see. It is watched together with one
 * that does not move, so that its rows are asked for once more. The second episode begins while a transaction of the first can
 * be stuck, and hold up one of the same sender; the others begin when it has been replaced.
 */
const EPISODES: readonly {
  readonly keys: number;
  readonly beat: number;
  readonly policy: UpdatePolicy;
  readonly beatsSinceStored?: number;
}[] = [
  { keys: 2, beat: 0, policy: HEARTBEAT },
  { keys: 1, beat: 1, policy: HEARTBEAT },
  { keys: 1, beat: 8, policy: HEARTBEAT },
  { keys: 1, beat: 15, policy: DEVIATION, beatsSinceStored: 25 },
];
const QUIET_KEY = numberToHex(0xffff, { size: 32 });
/** An episode that takes longer counts as missed: every rank has had its turn, and a stuck transaction its replacement. */
const MAX_STAGES = 40;
const MAX_EXTRA_MS = 60_000;

export interface Figure {
  /** Per episode. */
  readonly transactions: number;
  /** The 99th percentile of the seconds from due to stored. */
  readonly p99: number;
  /** The share of the episodes that were missed. */
  readonly missed: number;
}

/** Simulates networks until there are as many episodes as asked for. */
export function simulateRow(model: Model, row: Faults, blockMs: number, count: number, random: SeededRandom): Figure {
  const neverMined = new EvenChance(random, model.neverMined);
  const seconds: number[] = [];
  let [episodes, transactions] = [0, 0];
  while (episodes < count) {
    for (const { mined, storedAfterMs } of simulateNetwork(model, row, blockMs, random, neverMined)) {
      episodes++;
      transactions += mined;
      if (storedAfterMs !== null) seconds.push(storedAfterMs / 1_000);
    }
  }
  seconds.sort((a, b) => a - b);
  return {
    transactions: transactions / episodes,
    p99: seconds[Math.ceil(0.99 * seconds.length) - 1] ?? Number.POSITIVE_INFINITY,
    missed: 1 - seconds.length / episodes,
  };
}

function simulateNetwork(
  model: Model,
  { members: size, down = 0, silent = 0, cutLinks = 0, lostRequests = 0 }: Faults,
  blockMs: number,
  random: SeededRandom,
  neverMined: EvenChance,
) {
  const stageMs = blockMs + STAGE_SPARE_MS;
  const firstRound = BigInt(BEAT_SECONDS * (300_000_000 + Math.floor(random.next() * 50_000_000)));
  /** When a beat begins: the same number of milliseconds after its round for everyone. */
  const beatMs = (beat: number) => Number(firstRound) * 1_000 + 2_000 + beat * BEAT_SECONDS * 1_000;
  const episodes = EPISODES.map(({ keys, beat, policy, beatsSinceStored }, index) => {
    const age = dueAge(policy, sharedLeadSeconds({ beatSeconds: BEAT_SECONDS, stageMs }));
    const beats = beatsSinceStored ?? Math.ceil((age - 2) / BEAT_SECONDS);
    return {
      keys: Array.from({ length: keys }, (_, i) => numberToHex(16 * index + i + 1, { size: 32 })),
      beat,
      policy,
      storedRound: firstRound + BigInt(BEAT_SECONDS * (beat - beats)),
      movedAt: beatsSinceStored === undefined ? null : firstRound + BigInt(BEAT_SECONDS * beat),
    };
  });
  const quiet = episodes
    .filter(({ movedAt }) => movedAt !== null)
    .map((episode) => ({ ...episode, keys: [QUIET_KEY], movedAt: null }));
  const all = [...episodes, ...quiet];
  const storedRounds = new Map(all.flatMap(({ keys, storedRound }) => keys.map((key) => [key, storedRound] as const)));
  const movedAt = new Map(all.flatMap(({ keys, movedAt: round }) => keys.map((key) => [key, round] as const)));
  const members = Array.from({ length: size }, (_, index) => numberToHex(index + 1, { size: 20 }));
  const faulty = random.sample(down + silent, size);
  const isDown = (index: number) => faulty.slice(0, down).includes(index);
  const events = new EventQueue();
  const startMs = beatMs(0) - 1_000;
  const chain = new SimulatedChain({ events, model, random, neverMined, blockMs, startMs, storedRounds });
  const world: SharedWorld = {
    ...{ model, random, events, chain, members, requestLoss: lostRequests },
    keys: all.flatMap(({ keys, policy }) => keys.map((key) => ({ key, policy }))),
    hasMoved: (key, storedRound, round) => {
      const moved = movedAt.get(key) ?? null;
      return moved !== null && storedRound < moved && round >= moved;
    },
  };
  const ranking = new Ranking(DATASET, members);
  for (const [index, sender] of members.entries()) {
    // Whoever sends nothing that is mined is not noticed by the others, whatever else it does.
    if (faulty.includes(index)) continue;
    const reach = members.map((_, other) => !isDown(other) && (other === index || !random.chance(cutLinks)));
    const settings = { ranking, role: sender, beatSeconds: BEAT_SECONDS, stageMs };
    const operator = new SimulatedOperator(world, settings, reach);
    events.plan(startMs, () => operator.start());
  }

  const lastBeatMs = beatMs(Math.max(...EPISODES.map(({ beat }) => beat)));
  let endMs = lastBeatMs + MAX_STAGES * stageMs + MAX_EXTRA_MS;
  for (let isOver = false; events.now < endMs; events.runNext()) {
    if (isOver || !episodes.every(({ keys }) => keys.every((key) => chain.storedAt.get(key) !== null))) continue;
    isOver = true;
    // Until then all have seen it, and what they had sent before is mined.
    endMs = Math.min(endMs, events.now + 2 * blockMs + 3_000);
  }
  return episodes.map(({ keys, beat }) => {
    const at = Math.max(...keys.map((key) => chain.storedAt.get(key) ?? Number.POSITIVE_INFINITY));
    return {
      mined: Math.max(...keys.map((key) => chain.mined.get(key) ?? 0)),
      storedAfterMs: Number.isFinite(at) ? at - beatMs(beat) : null,
    };
  });
}
