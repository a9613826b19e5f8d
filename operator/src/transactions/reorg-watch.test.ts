import { type Hex, numberToHex } from "viem";
import { beforeEach, expect, test } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { ReorgWatch } from "./reorg-watch.js";
import type { Transaction } from "./task.js";

const hashOf = (name: number): Hex => numberToHex(name, { size: 32 });
/** The hash of each block that the node has, by its number. */
let blocks: Map<number, Hex>;
/** Where the node has the transaction; null if it has no receipt. */
let minedIn: number | null;
let head: number;
/** The transaction that the node shows in the block 5 that the watch knows; null for none. */
let shownInGone: Hex | null;
/** The endpoints, as they were checked last. */
let endpoints: { endpoint: string; ready: boolean; block: number; without: string[] }[];
let watch: ReorgWatch;

const mined = {
  ...{ hash: hashOf(1), blockNumber: 5, blockHash: hashOf(50), isReverted: false, hasEvents: true, gasUsed: 1n },
  call: { to: `0x${"1".repeat(40)}`, data: "0x", gas: 1n, round: 1n, expiresAt: 9 },
} as const;
const transaction = { task: null } as Transaction;

beforeEach(() => {
  blocks = new Map([[5, hashOf(50)]]);
  minedIn = 5;
  head = 6;
  shownInGone = null;
  const receipt = () => ({
    ...{ transactionHash: mined.hash, blockNumber: numberToHex(minedIn ?? 0), blockHash: blocks.get(minedIn ?? 0) },
    ...{ status: "0x1", logs: [], gasUsed: "0x1", transactionIndex: "0x0", type: "0x2" },
  });
  const request = async (method: string, [first]: readonly unknown[]) => {
    if (method === "eth_blockNumber") return numberToHex(head);
    if (method === "eth_getTransactionReceipt" && first === shownInGone)
      return { ...receipt(), blockNumber: "0x5", blockHash: hashOf(50) };
    if (method === "eth_getTransactionReceipt") return minedIn === null ? null : receipt();
    const hash = blocks.get(Number(first));
    return hash === undefined ? null : { number: first, hash, timestamp: "0x1", gasLimit: "0x1" };
  };
  endpoints = [0, 1, 2].map((i) => ({ endpoint: `rpcUrls/${i}`, ready: true, block: 6, without: [] }));
  watch = new ReorgWatch(createChainClient(42, { request, endpoints }), { reorgDepth: 8 });
  watch.add(transaction, mined);
});

test("a block that a lagging node does not have yet is not reorganized, and is looked for again", async () => {
  blocks = new Map();
  minedIn = null;
  expect(await watch.look()).toEqual([]);
  expect(watch.size).toBe(1);
  // A reorganization is noticed all the same, at the same head.
  blocks = new Map([[5, hashOf(51)]]);
  expect(await watch.look()).toEqual([transaction]);
  expect(watch.size).toBe(0);
});

test("a transaction that another node has not got in a block yet is not dropped with those of a block that is gone", async () => {
  const later = { task: null } as Transaction;
  watch.add(later, { ...mined, hash: hashOf(2), blockNumber: 6, blockHash: hashOf(60) });
  minedIn = null;
  blocks = new Map([[5, hashOf(51)]]);
  expect(await watch.look()).toEqual([transaction]);
  expect(watch.size).toBe(1);
});

test("what a node still shows in a block that is gone is dropped with the others of that block", async () => {
  const other = { task: null } as Transaction;
  watch.add(other, { ...mined, hash: hashOf(2) });
  blocks = new Map([[5, hashOf(51)]]);
  minedIn = null;
  shownInGone = hashOf(2);
  expect(await watch.look()).toEqual([transaction, other]);
  expect(watch.size).toBe(0);
});

test("a transaction that is in another block now is watched there", async () => {
  blocks = new Map([
    [5, hashOf(51)],
    [6, hashOf(60)],
  ]);
  minedIn = 6;
  expect(await watch.look()).toEqual([]);
  minedIn = null;
  blocks.set(6, hashOf(61));
  head = 7;
  expect(await watch.look()).toEqual([transaction]);
});

test("a head that one endpoint invents does not end the watch", async () => {
  head = 1_000_000;
  expect(await watch.look()).toEqual([]);
  head = 7;
  minedIn = null;
  blocks.set(5, hashOf(51));
  expect(await watch.look()).toEqual([transaction]);
});

test("a transaction is no longer watched once most endpoints show it deep enough", async () => {
  for (const one of endpoints.slice(1)) one.block = 13;
  head = 13;
  expect(await watch.look()).toEqual([]);
  expect(watch.size).toBe(0);
});
