import { type Address, keccak256, numberToHex } from "viem";
import { beatAt, roundAt } from "../../../operator/dist/schedule/beat.js";
import { sharedLeadSeconds } from "../../../operator/dist/schedule/cadence.js";
import { Ranking } from "../../../operator/dist/schedule/rank.js";
import { EventQueue } from "./event-queue.js";
import type { Model } from "./model.js";
import { EvenChance, type SeededRandom } from "./random.js";
import { BEAT_SECONDS, DATASET, STAGE_SPARE_MS } from "./simulate-row.js";
import { SimulatedChain } from "./simulated-chain.js";
import { type SharedWorld, SimulatedOperator } from "./simulated-operator.js";

const KEY = numberToHex(1, { size: 32 });
/** How long a network is simulated. */
const DURATION_MS = 1_200_000;
/** How long after the beginning of a beat the dishonest members send: when the others have begun to wait. */
const AFTER_BEAT_MS = 1_000;
/** How often they look whether it is time. */
const LOOK_MS = 250;

/** Whose turns are held up. */
export interface HeldTurns {
  readonly members: number;
  /** How many of them are dishonest. */
  readonly dishonest: number;
}

/** f members that store rounds in which one of them has the best rank, to hold up the others' turns. */
export const HELD_TURNS: readonly HeldTurns[] = [
  { members: 4, dishonest: 1 },
  { members: 13, dishonest: 4 },
  { members: 31, dishonest: 10 },
];

/** In seconds. */
export interface OldestValue {
  readonly oldest: number;
  /** The heartbeat, a stage for each dishonest member, and a beat. */
  readonly bound: number;
}

/**
 * Simulates a network whose dishonest members sign, and send only this: while a key is due, at every beat, the smallest
 * newer round at which one of them has the best rank. They have collected the reports of every second.
 *
 * @returns How old the key's value became.
 */
export function simulateHeldTurns(
  model: Model,
  { members: size, dishonest }: HeldTurns,
  blockMs: number,
  random: SeededRandom,
): OldestValue {
  const stageMs = blockMs + STAGE_SPARE_MS;
  const lead = sharedLeadSeconds({ beatSeconds: BEAT_SECONDS, stageMs });
  const heartbeatSeconds = Math.max(30, Math.ceil(2 * lead));
  const members = Array.from({ length: size }, (_, index) => numberToHex(index + 1, { size: 20 }));
  const faulty = random.sample(dishonest, size).map((index) => members[index] as Address);
  const ranking = new Ranking(DATASET, members);
  const firstRound = BigInt(BEAT_SECONDS * (300_000_000 + Math.floor(random.next() * 50_000_000)));
  const startMs = Number(firstRound) * 1_000;
  const events = new EventQueue();
  const chain = new SimulatedChain({
    ...{ events, model, random, blockMs, startMs, storedRounds: new Map([[KEY, firstRound]]) },
    neverMined: new EvenChance(random, 0),
  });
  const policy = { heartbeatSeconds, deviationBps: 50, minIntervalSeconds: 1 };
  const world: SharedWorld = {
    ...{ model, random, events, chain, members, requestLoss: 0, keys: [{ key: KEY, policy }] },
    hasMoved: () => false,
  };
  for (const sender of members) {
    if (faulty.includes(sender)) continue;
    const settings = { ranking, role: sender, beatSeconds: BEAT_SECONDS, stageMs };
    const operator = new SimulatedOperator(world, settings, new Array(size).fill(true));
    events.plan(startMs, () => operator.start());
  }

  let sentBeat = 0n;
  const holdUp = () => {
    events.plan(events.now + LOOK_MS, holdUp);
    const beat = beatAt(events.now, BEAT_SECONDS);
    const stored = chain.blocks.at(-1)?.storedRounds.get(KEY) as bigint;
    const isDue = events.now / 1_000 - Number(stored) >= heartbeatSeconds - lead;
    if (!isDue || beat === sentBeat || events.now < Number(beat + 2n) * 1_000 + AFTER_BEAT_MS) return;
    sentBeat = beat;
    for (let round = stored + 1n; round < roundAt(events.now); round++) {
      const [first] = ranking.orderOf(keccak256(KEY), round);
      if (first === undefined || !faulty.includes(first)) continue;
      chain.submit(first, [KEY], round);
      return;
    }
  };
  events.plan(startMs, holdUp);

  while (events.now < startMs + DURATION_MS) events.runNext();
  let oldestMs = 0;
  for (const [index, { storedRounds }] of chain.blocks.entries()) {
    const until = chain.blocks[index + 1]?.at ?? events.now;
    oldestMs = Math.max(oldestMs, until - Number(storedRounds.get(KEY)) * 1_000);
  }
  const bound = heartbeatSeconds + (dishonest * stageMs) / 1_000 + BEAT_SECONDS;
  return { oldest: oldestMs / 1_000, bound };
}
