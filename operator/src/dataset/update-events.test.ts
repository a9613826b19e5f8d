import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Address, encodeAbiParameters, encodeEventTopics, type Hex, keccak256, numberToHex } from "viem";
import { beforeEach, expect, test } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { RpcError } from "../rpc/rpc-error.js";
import { findUpdate } from "./update-events.js";

const DATASET: Address = "0x0000000000000000000000000000000000000da7";
const KEY: Hex = "0x4b31";
const HEAD = 1_000;
const hashOf = (block: number) => numberToHex(block, { size: 32 });

/** The blocks that were searched. */
let searched: [from: number, to: number | "latest"][];
/** The most blocks that the node searches at a time. */
let maxBlocks: number;
/** How the node fails otherwise. */
let failure: RpcError | null;

beforeEach(() => {
  [searched, maxBlocks, failure] = [[], 10_000, null];
});

/** A node of a chain on which each block has stored the round of its number. */
async function request(method: string, [filter]: readonly unknown[]): Promise<unknown> {
  if (method === "eth_blockNumber") return numberToHex(HEAD);
  const { fromBlock, toBlock } = filter as { fromBlock: Hex; toBlock: Hex | "latest" };
  const [from, to] = [Number(fromBlock), toBlock === "latest" ? HEAD : Number(toBlock)];
  searched.push([from, toBlock === "latest" ? toBlock : to]);
  if (failure !== null) throw failure;
  if (to - from >= maxBlocks) throw new RpcError("refused", 42, method, "block range is too wide", null, "not_offered");
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    ...{ address: DATASET, blockNumber: numberToHex(from + index), blockHash: hashOf(from + index), logIndex: "0x0" },
    ...{ transactionHash: hashOf(from + index), transactionIndex: "0x0", removed: false },
    topics: encodeEventTopics({ abi: datasetAbi, eventName: "Updated", args: { keyHash: keccak256(KEY) } }),
    data: encodeAbiParameters(
      [{ type: "bytes32" }, { type: "uint256" }, { type: "uint8" }],
      [hashOf(7), BigInt(from + index), 1],
    ),
  }));
}

const find = (round: number) =>
  findUpdate({ client: createChainClient(42, { request }), address: DATASET }, KEY, BigInt(round));

test("the transaction of a recent round is found with one call", async () => {
  expect(await find(HEAD - 99)).toBe(hashOf(HEAD - 99));
  expect(searched).toEqual([[HEAD - 99, "latest"]]);
});

test("where nodes limit the blocks of a search, it goes on with fewer, the newest first", async () => {
  maxBlocks = 10;
  expect(await find(HEAD - 15)).toBe(hashOf(HEAD - 15));
  expect(searched).toEqual([
    [HEAD - 99, "latest"],
    [HEAD - 9, HEAD],
    [HEAD - 19, HEAD - 10],
  ]);
  expect(await find(HEAD - 99)).toBe(hashOf(HEAD - 99));
  maxBlocks = 1;
  expect(await find(HEAD - 2)).toBe(hashOf(HEAD - 2));
});

test("a search ends after a bounded number of calls, and at once where smaller ones would fail as well", async () => {
  maxBlocks = 1;
  expect(await find(HEAD - 50)).toBe(null);
  expect(searched).toHaveLength(12);
  [maxBlocks, searched] = [0, []];
  expect(await find(HEAD)).toBe(null);
  expect(searched).toHaveLength(3);
  [failure, searched] = [new RpcError("timeout", 42, "eth_getLogs", "no answer within 5000 ms"), []];
  expect(await find(HEAD)).toBe(null);
  expect(searched).toHaveLength(1);
});
