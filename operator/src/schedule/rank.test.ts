import fc from "fast-check";
import { type Address, concat, type Hex, keccak256, numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import vectors from "../../../protocol/vectors/schedule.json" with { type: "json" };
import { keysToStart, Ranking, type RankSubject, rankMembers } from "./rank.js";

const addressOf = (i: number): Address => numberToHex(i + 1, { size: 20 });
const hashOf = (i: number): Hex => numberToHex(i + 1, { size: 32 });
const membersOf = (count: number) => Array.from({ length: count }, (_, i) => addressOf(i));
const DATASET = addressOf(1_000);

const subjects: fc.Arbitrary<RankSubject> = fc.oneof(
  fc.record({ round: fc.bigInt({ min: 1n, max: 2n ** 40n - 1n }) }),
  fc.record({ keyHash: fc.nat().map(hashOf) }),
);

describe("published vectors", () => {
  test.each(vectors.turns)("$name", ({ dataset, keyHash, storedRound, members, order }) => {
    const ranking = new Ranking(dataset as Address, members as Address[]);
    for (let call = 0; call < 2; call++) expect(ranking.orderOf(keyHash as Hex, BigInt(storedRound))).toEqual(order);
  });
});

test("everyone finds the same order, however the members are listed", () => {
  const listed = fc.integer({ min: 1, max: 31 }).chain((size) => {
    return fc.shuffledSubarray(membersOf(size), { minLength: size });
  });
  fc.assert(
    fc.property(subjects, listed, (subject, members) => {
      const order = rankMembers(DATASET, subject, members);
      expect(order.toSorted()).toEqual(members.toSorted());
      expect(order).toEqual(rankMembers(DATASET, subject, members.toSorted()));
    }),
  );
});

test("whoever leaves does not change the order of the others", () => {
  fc.assert(
    fc.property(subjects, fc.subarray(membersOf(31)), (subject, left) => {
      const all = rankMembers(DATASET, subject, membersOf(31));
      expect(rankMembers(DATASET, subject, left)).toEqual(all.filter((member) => left.includes(member)));
    }),
  );
});

test.each([
  ["rounds", (i: number) => rankMembers(DATASET, { round: BigInt(1_000_000 + 5 * i) }, membersOf(13))],
  ["keys that were never stored", (i: number) => rankMembers(DATASET, { keyHash: hashOf(i) }, membersOf(13))],
  ["datasets", (i: number) => rankMembers(addressOf(i), { round: 1_000_000n }, membersOf(13))],
])("over many %s, every member leads about as often", (_, orderOf) => {
  const leaders = Array.from({ length: 1_000 }, (_, i) => orderOf(i)[0]);
  for (const member of membersOf(13)) {
    const led = leaders.filter((leader) => leader === member).length;
    // 77 on average; the bounds are four and a half standard deviations away.
    expect(led).toBeGreaterThan(39);
    expect(led).toBeLessThan(115);
  }
});

describe("keys that were never stored", () => {
  const keys = Array.from({ length: 40 }, (_, i) => hashOf(i));

  test("few start at one beat, and operators that serve other keys as well choose the same ones first", () => {
    fc.assert(
      fc.property(fc.subarray(keys), fc.bigInt({ min: 1n, max: 2n ** 40n }), (some, round) => {
        const chosen = keysToStart(DATASET, round, keys, 8);
        expect(chosen).toHaveLength(8);
        expect(keysToStart(DATASET, round, some, 8)).toHaveLength(Math.min(8, some.length));
        const both = chosen.filter((key) => some.includes(key));
        expect(keysToStart(DATASET, round, some, 8)).toEqual(expect.arrayContaining(both));
      }),
      { numRuns: 20 },
    );
  });

  test("those with the lowest keccak256(dataset, round, key hash) start", () => {
    const hashed = (key: Hex) => keccak256(concat([DATASET, numberToHex(7n, { size: 32 }), keccak256(key)]));
    const ordered = keys.toSorted((a, b) => (hashed(a) < hashed(b) ? -1 : 1));
    expect(keysToStart(DATASET, 7n, keys, 8)).toEqual(ordered.slice(0, 8));
  });

  test("no more than start at one beat all start, in their own order", () => {
    const few = keys.slice(0, 8);
    expect(keysToStart(DATASET, 1n, few, 8)).toBe(few);
    expect(keysToStart(DATASET, 1n, few, 7)).toHaveLength(7);
  });

  test("none of them waits for the same others at every beat", () => {
    const started = Array.from({ length: 40 }, (_, beat) =>
      keysToStart(DATASET, BigInt(1_000_000 + 5 * beat), keys, 8),
    );
    expect(new Set(started.flat()).size).toBe(keys.length);
  });
});
