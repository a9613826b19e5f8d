import { type Address, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { Failover } from "./failover.js";

const dataset: Address = numberToHex(7, { size: 20 });
const senders = [1, 2, 3].map((i): Address => numberToHex(i, { size: 20 }));
const replicas = senders.map((own) => new Failover(dataset, { senders, own, failoverMs: 1_000 }));
const keys = Array.from({ length: 90 }, (_, i): Hex => numberToHex(i, { size: 8 }));
const needy = (updatedAt = 1n) => keys.map((key) => ({ key, stored: { updatedAt } }));

test("every key has one replica at each rank, and the replicas lead about as many keys each", () => {
  const ranks = keys.map((key) => replicas.map((failover) => failover.rankOf(key)));
  for (const keyRanks of ranks) expect(keyRanks.toSorted()).toEqual([0, 1, 2]);
  for (const i of [0, 1, 2]) expect(ranks.filter((keyRanks) => keyRanks[i] === 0).length).toBeGreaterThan(15);
});

test("the leader updates at once, the second after one failover interval, the third after two", () => {
  const [failover] = replicas;
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
  const failover = new Failover(dataset, { senders, own: senders[0] ?? "0x", failoverMs: 1_000 });
  const second = needy().filter(({ key }) => failover.rankOf(key) === 1);
  expect(failover.own(second, 0)).toEqual([]);
  expect(failover.own([], 900)).toEqual([]);
  expect(failover.own(second, 1_000)).toEqual([]);
  expect(failover.own(second, 2_000)).toEqual(second);
});

test("a single replica leads every key", () => {
  const failover = new Failover(dataset, { senders: [], own: null, failoverMs: 1_000 });
  expect(failover.own(needy(), 0)).toHaveLength(keys.length);
});
