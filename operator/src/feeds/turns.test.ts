import { type Address, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { Turns } from "./turns.js";

const dataset: Address = numberToHex(7, { size: 20 });
const senders = [1, 2, 3].map((i): Address => numberToHex(i, { size: 20 }));
const replicas = senders.map((own) => new Turns(dataset, { senders, own, stepInMs: 1_000 }));
const keys = Array.from({ length: 90 }, (_, i): Hex => numberToHex(i, { size: 8 }));
const needy = (updatedAt = 1n) => keys.map((key) => ({ key, stored: { updatedAt } }));

test("every key has one leader, one second and one third, and the replicas lead about as many each", () => {
  const ranks = keys.map((key) => replicas.map((turns) => turns.rankOf(key)));
  for (const ofKey of ranks) expect(ofKey.toSorted()).toEqual([0, 1, 2]);
  for (const i of [0, 1, 2]) expect(ranks.filter((ofKey) => ofKey[i] === 0).length).toBeGreaterThan(15);
});

test("the leader goes at once, the second after one step, the third after two", () => {
  const [turns] = replicas;
  const ranksAt = (now: number) => new Set(turns?.own(needy(), now).map(({ key }) => turns.rankOf(key)));
  expect(ranksAt(5_000)).toEqual(new Set([0]));
  expect(ranksAt(5_999)).toEqual(new Set([0]));
  expect(ranksAt(6_000)).toEqual(new Set([0, 1]));
  expect(ranksAt(7_000)).toEqual(new Set([0, 1, 2]));
  // Somebody has updated them: the wait begins anew.
  const ranksNow = new Set(turns?.own(needy(2n), 7_100).map(({ key }) => turns.rankOf(key)));
  expect(ranksNow).toEqual(new Set([0]));
});

test("what needed no update for a moment is waited for from the beginning", () => {
  const turns = new Turns(dataset, { senders, own: senders[0] ?? "0x", stepInMs: 1_000 });
  const second = needy().filter(({ key }) => turns.rankOf(key) === 1);
  expect(turns.own(second, 0)).toEqual([]);
  expect(turns.own([], 900)).toEqual([]);
  expect(turns.own(second, 1_000)).toEqual([]);
  expect(turns.own(second, 2_000)).toEqual(second);
});

test("a replica by itself leads everything", () => {
  const turns = new Turns(dataset, { senders: [], own: null, stepInMs: 1_000 });
  expect(turns.own(needy(), 0)).toHaveLength(keys.length);
});
