import fc from "fast-check";
import { type Address, numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import { beatAt, msUntilNextBeat, orderOf, stagesBefore, type Turn } from "./turn-schedule.js";

const BEAT_SECONDS = 5;
const LENGTHS = { stageMs: 2_000, absentStageMs: 500 };
const addressOf = (i: number): Address => numberToHex(i + 1, { size: 20 });
const providersOf = (count: number) => Array.from({ length: count }, (_, i) => addressOf(i));
const total = (stages: readonly number[]) => stages.reduce((sum, ms) => sum + ms, 0);

const times = fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 });
const turns: fc.Arbitrary<Turn> = fc.record({
  dataset: fc.integer({ min: 0, max: 1_000_000 }).map(addressOf),
  chunk: fc.integer({ min: 0, max: 1_000 }),
  round: fc.integer({ min: 0, max: 400_000_000 }).map((beat) => BigInt(beat * BEAT_SECONDS)),
});
const committees = fc.integer({ min: 1, max: 31 }).map(providersOf);
/** A turn, the nodes in an order of their own, and some of them: at most as many as may be faulty. */
const faultyTurns = fc.integer({ min: 4, max: 31 }).chain((size) =>
  fc.record({
    turn: turns,
    listed: fc.shuffledSubarray(providersOf(size), { minLength: size }),
    faulty: fc.subarray(providersOf(size), { maxLength: Math.floor((size - 1) / 3) }),
  }),
);

describe("beats", () => {
  test("a beat's round is the newest multiple of the beat that lies two seconds in the past", () => {
    expect(beatAt(1_000_001_999, BEAT_SECONDS)).toBe(999_995n);
    expect(beatAt(1_000_002_000, BEAT_SECONDS)).toBe(1_000_000n);
    expect(beatAt(1_000_006_999, BEAT_SECONDS)).toBe(1_000_000n);
    expect(msUntilNextBeat(1_000_002_000, BEAT_SECONDS)).toBe(5_000);
    expect(msUntilNextBeat(1_000_006_999, BEAT_SECONDS)).toBe(1);
  });

  test("the next beat begins when it is said to, and not before", () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 60 }), fc.nat(), (now, beatSeconds, any) => {
        const beat = beatAt(now, beatSeconds);
        const untilNext = msUntilNextBeat(now, beatSeconds);
        const next = now + untilNext;
        for (const before of [now + (any % untilNext), next - 1]) expect(beatAt(before, beatSeconds)).toBe(beat);
        expect(beatAt(next, beatSeconds)).toBe(beat + BigInt(beatSeconds));
        expect(msUntilNextBeat(next, beatSeconds)).toBe(beatSeconds * 1_000);
      }),
    );
  });
});

describe("order", () => {
  test("every node has one rank, and all nodes find the same order however they list each other", () => {
    fc.assert(
      fc.property(faultyTurns, ({ turn, listed }) => {
        const order = orderOf(turn, listed);
        expect(order.toSorted()).toEqual(listed.toSorted());
        expect(order).toEqual(orderOf(turn, listed.toReversed()));
      }),
    );
  });

  test("whoever leaves does not change the order of the others", () => {
    fc.assert(
      fc.property(faultyTurns, ({ turn, listed, faulty }) => {
        const others = listed.filter((provider) => !faulty.includes(provider));
        expect(orderOf(turn, others)).toEqual(orderOf(turn, listed).filter((provider) => others.includes(provider)));
      }),
    );
  });

  test.each([
    ["rounds", (i: number) => ({ dataset: addressOf(7), chunk: 0, round: BigInt(i * BEAT_SECONDS) })],
    ["chunks", (i: number) => ({ dataset: addressOf(7), chunk: i, round: 1_000_000n })],
    ["datasets", (i: number) => ({ dataset: addressOf(i), chunk: 0, round: 1_000_000n })],
  ])("over many %s, every node leads about as often", (_, turnAt) => {
    const leaders = Array.from({ length: 3_000 }, (_, i) => orderOf(turnAt(i), providersOf(13))[0]);
    for (const provider of providersOf(13)) {
      const led = leaders.filter((leader) => leader === provider).length;
      // 231 on average; the bounds are five standard deviations away.
      expect(led).toBeGreaterThan(155);
      expect(led).toBeLessThan(305);
    }
  });
});

describe("waits", () => {
  test("the first does not wait; every other waits for each before it, longer if it holds that one's report", () => {
    const [a, b, c] = [addressOf(0), addressOf(1), addressOf(2)];
    const waits = (own: Address | null) => stagesBefore(own, [a, b, c], new Set([a, c]), LENGTHS);
    expect(waits(a)).toEqual([]);
    expect(waits(b)).toEqual([2_000]);
    expect(waits(c)).toEqual([2_000, 500]);
  });

  test("a node that gave up on a report early waits once for those who may still wait for theirs", () => {
    const [a, b, c, d] = providersOf(4) as [Address, Address, Address, Address];
    const lengths = { ...LENGTHS, graceLeftMs: 400 };
    expect(stagesBefore(d, [a, b, c, d], new Set([a, d]), lengths)).toEqual([2_000, 900, 500]);
    expect(stagesBefore(d, [a, b, c, d], new Set([a, b, c, d]), lengths)).toEqual([2_000, 2_000, 2_000]);
    expect(stagesBefore(a, [a, b, c, d], new Set([a]), lengths)).toEqual([]);
  });

  test("a volunteer, and a node outside of the committee, wait for all nodes", () => {
    fc.assert(
      fc.property(turns, committees, (turn, providers) => {
        const order = orderOf(turn, providers);
        const held = new Set(providers);
        const last = total(stagesBefore(order.at(-1) ?? null, order, held, LENGTHS));
        for (const volunteer of [null, addressOf(1_000)])
          expect(total(stagesBefore(volunteer, order, held, LENGTHS))).toBe(last + LENGTHS.stageMs);
      }),
    );
  });

  test("nodes that hold the same reports take their turns one stage apart", () => {
    fc.assert(
      fc.property(faultyTurns, ({ turn, listed, faulty }) => {
        const order = orderOf(turn, listed);
        const held = new Set(listed.filter((provider) => !faulty.includes(provider)));
        const waits = order.map((provider) => total(stagesBefore(provider, order, held, LENGTHS)));
        for (const [rank, wait] of waits.slice(1).entries()) {
          const lives = held.has(order[rank] as Address);
          expect(wait - (waits[rank] ?? 0)).toBe(lives ? LENGTHS.stageMs : LENGTHS.absentStageMs);
        }
      }),
    );
  });

  test("with any f nodes that never send, another's turn comes within f stages, whichever reports it holds", () => {
    fc.assert(
      fc.property(faultyTurns, fc.func(fc.boolean()), ({ turn, listed, faulty }, isHeld) => {
        const order = orderOf(turn, listed);
        const first = order.find((provider) => !faulty.includes(provider)) ?? null;
        const held = new Set(listed.filter((provider) => isHeld(provider)));
        const wait = total(stagesBefore(first, order, held, LENGTHS));
        expect(wait).toBeLessThanOrEqual(faulty.length * LENGTHS.stageMs);
      }),
    );
  });
});
