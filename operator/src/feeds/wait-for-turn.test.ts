import { describe, expect, test } from "vitest";
import { type TurnActions, waitForTurn } from "./wait-for-turn.js";

const BLOCK_MS = 1_000;

/** Takes a turn in a world where things happen at given times, in milliseconds since the turn began. */
async function take(
  stages: readonly number[],
  { minedAt = Infinity, otherAt = Infinity, lostAt = Infinity, nextAt = Infinity, blockMs = BLOCK_MS, busyMs = 0 } = {},
) {
  let now = 0;
  let submissions = 0;
  let isNext = false;
  let isLossKnown = false;
  const sends = await waitForTurn(stages, blockMs, {
    sleep: async (ms) => {
      now += ms;
    },
    isMined: async () => now >= minedAt,
    findOtherTransaction: async () => {
      if (now < otherAt) return "none";
      submissions++;
      isNext = now >= nextAt;
      if (now < lostAt || isNext) return "found";
      if (isLossKnown) return "none";
      isLossKnown = true;
      return "lost";
    },
    isOtherLost: async () => {
      isLossKnown ||= now >= lostAt && !isNext;
      return isLossKnown && !isNext;
    },
    nodesBefore: () => Math.max(0, stages.length - (isLossKnown ? 1 : 0)),
    busyMs: () => busyMs,
  });
  return { sends, now, submissions };
}

test("the leader sends at once", async () => {
  expect(await take([])).toEqual({ sends: true, now: 0, submissions: 0 });
});

test("a node sends after its stages when nobody before it did", async () => {
  expect(await take([2_000, 500])).toEqual({ sends: true, now: 2_500, submissions: 0 });
});

test("a node that was busy gives the others as much time again, once", async () => {
  expect(await take([2_000, 2_000], { busyMs: 700 })).toEqual({ sends: true, now: 4_700, submissions: 0 });
  expect(await take([2_000], { busyMs: 700, minedAt: 2_500 })).toEqual({ sends: false, now: 2_700, submissions: 0 });
});

test("the leader sends at once, however busy it was", async () => {
  expect(await take([], { busyMs: 700 })).toEqual({ sends: true, now: 0, submissions: 0 });
});

test("a node gives up its turn after the stage in which the round is mined", async () => {
  expect(await take([2_000, 2_000, 2_000], { minedAt: 1_000 })).toEqual({ sends: false, now: 2_000, submissions: 0 });
});

test("a node submits another's transaction and waits for its block", async () => {
  const turn = await take([2_000], { otherAt: 100, minedAt: 12_000, blockMs: 12_000 });
  expect(turn).toEqual({ sends: false, now: 12_000, submissions: 1 });
});

test("the leader too submits another's transaction first", async () => {
  expect(await take([], { otherAt: 0, minedAt: 800 })).toEqual({ sends: false, now: 1_000, submissions: 1 });
});

test.each([
  [1_000, 3_500],
  [2_000, 5_500],
  [12_000, 25_500],
])("a transaction that is never mined delays a node once, by two blocks of %s ms and 1.5 s", async (blockMs, ms) => {
  expect(await take([2_000], { otherAt: 0, blockMs })).toEqual({ sends: true, now: 2_000 + ms, submissions: 1 });
});

test("a transaction whose sender has replaced it delays a node only until that is mined", async () => {
  const turn = await take([2_000], { otherAt: 0, lostAt: 2_500 });
  expect(turn).toEqual({ sends: true, now: 3_000, submissions: 2 });
});

test("a transaction that is mined is not lost, though its sender has used the nonce", async () => {
  const turn = await take([2_000], { otherAt: 0, minedAt: 2_500, lostAt: 2_500 });
  expect(turn).toEqual({ sends: false, now: 3_000, submissions: 1 });
});

test("the next node does not send if a later one was faster to find the loss", async () => {
  const turn = await take([2_000], { otherAt: 0, lostAt: 2_500, nextAt: 2_900, minedAt: 4_000 });
  expect(turn).toEqual({ sends: false, now: 4_000, submissions: 2 });
});

describe("when another's transaction is lost, a node that is not the next one", () => {
  const stages = [2_000, 2_000];

  test("gives the next one half a second to share its own, and waits for its block", async () => {
    const turn = await take(stages, { otherAt: 0, lostAt: 3_000, nextAt: 4_200, minedAt: 5_000 });
    expect(turn).toEqual({ sends: false, now: 5_500, submissions: 2 });
  });

  test("sends when none is shared", async () => {
    expect(await take(stages, { otherAt: 0, lostAt: 3_000 })).toEqual({ sends: true, now: 4_500, submissions: 2 });
    expect(await take(stages, { otherAt: 0, lostAt: 4_500 })).toEqual({ sends: true, now: 5_500, submissions: 2 });
  });

  test("waits two blocks and 1.5 s for all of them together", async () => {
    const first = await take(stages, { otherAt: 0, lostAt: 3_000, nextAt: 4_200 });
    expect(first).toEqual({ sends: true, now: 4_500 + 3_500, submissions: 2 });
    const second = await take(stages, { otherAt: 0, lostAt: 4_500, nextAt: 4_700 });
    expect(second).toEqual({ sends: true, now: 5_500 + 2_500, submissions: 2 });
  });
});

/** Takes a turn in which nothing is ever mined, apart from what is overridden. Returns how long it took to send. */
async function takeUnmined(stages: readonly number[], blockMs: number, actions: Partial<TurnActions>): Promise<number> {
  let now = 0;
  const sends = await waitForTurn(stages, blockMs, {
    sleep: async (ms) => {
      now += ms;
    },
    isMined: async () => false,
    findOtherTransaction: async () => "found",
    isOtherLost: async () => false,
    nodesBefore: () => 0,
    busyMs: () => 0,
    ...actions,
  });
  expect(sends).toBe(true);
  return now;
}

test("transactions that are lost one after the other take no more time than the nodes before it have", async () => {
  const actions = { findOtherTransaction: async () => "lost" as const, nodesBefore: () => 2 };
  expect(await takeUnmined([2_000, 2_000, 2_000], BLOCK_MS, actions)).toBe(6_000 + 3 * 500);
});

test("a node waits for nobody once every node before it has lost its transaction", async () => {
  const found = ["found", "found", "none"] as const;
  let looks = 0;
  let losses = 0;
  const ms = await takeUnmined([2_000, 2_000], BLOCK_MS, {
    findOtherTransaction: async () => found[looks++] ?? "none",
    isOtherLost: async () => ++losses > 0,
    nodesBefore: () => 2 - losses,
  });
  // Each loss is found after a block; after the first one, the node of the second rank may be sharing its own.
  expect(ms).toBe(4_000 + 1_000 + 500 + 1_000);
});

test("a chain with instant blocks is not asked all the time", async () => {
  let asked = 0;
  await takeUnmined([], 0, { isMined: async () => ++asked > 100 });
  expect(asked).toBe(3);
});
