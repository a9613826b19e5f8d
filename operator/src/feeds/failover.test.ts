import { type Address, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { Failover } from "./failover.js";

const dataset: Address = numberToHex(7, { size: 20 });
const senders = [1, 2, 3].map((i): Address => numberToHex(i, { size: 20 }));
const all = senders.map((submitter, i) => ({ provider: submitter, url: `http://node-${i}.example`, submitter }));
const nodes = all.map((own) => new Failover(dataset, { all, own }, 1_000));
const keys = Array.from({ length: 90 }, (_, i): Hex => numberToHex(i, { size: 8 }));
const needy = (updatedAt = 1n) => keys.map((key) => ({ key, stored: { updatedAt } }));

test("every key has one node at each rank, and the nodes lead about as many keys each", () => {
  const ranks = keys.map((key) => nodes.map((failover) => failover.rankOf(key)));
  for (const keyRanks of ranks) expect(keyRanks.toSorted()).toEqual([0, 1, 2]);
  for (const i of [0, 1, 2]) expect(ranks.filter((keyRanks) => keyRanks[i] === 0).length).toBeGreaterThan(15);
});

test("the leader updates at once, the second after one stage, the third after two", () => {
  const [failover] = nodes;
  const ranksAt = (now: number) => new Set(failover?.own(needy(), now).map(({ key }) => failover.rankOf(key)));
  expect(ranksAt(5_000)).toEqual(new Set([0]));
  expect(ranksAt(5_999)).toEqual(new Set([0]));
  expect(ranksAt(6_000)).toEqual(new Set([0, 1]));
  expect(ranksAt(7_000)).toEqual(new Set([0, 1, 2]));
  // They have been updated, so the wait starts again.
  const ranksNow = new Set(failover?.own(needy(2n), 7_100).map(({ key }) => failover.rankOf(key)));
  expect(ranksNow).toEqual(new Set([0]));
});

test("the wait starts again for a key that needed no update in between", () => {
  const failover = new Failover(dataset, { all, own: all[0] ?? null }, 1_000);
  const second = needy().filter(({ key }) => failover.rankOf(key) === 1);
  expect(failover.own(second, 0)).toEqual([]);
  expect(failover.own([], 900)).toEqual([]);
  expect(failover.own(second, 1_000)).toEqual([]);
  expect(failover.own(second, 2_000)).toEqual(second);
});

test("an operator by itself leads every key", () => {
  const failover = new Failover(dataset, { all: [], own: null }, 1_000);
  expect(failover.own(needy(), 0)).toHaveLength(keys.length);
});

test("a volunteer comes after all nodes", () => {
  const failover = new Failover(dataset, { all, own: null }, 1_000);
  expect(failover.own(needy(), 0)).toEqual([]);
  expect(failover.own(needy(), 2_999)).toEqual([]);
  expect(failover.own(needy(), 3_000)).toHaveLength(keys.length);
});
