import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { committeeHash } from "@dataset-oracle/protocol/committee-hash";
import { pino } from "pino";
import { type Address, encodeAbiParameters, encodeEventTopics, encodeFunctionData, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { CommitteeCache } from "./committee.js";

const DATASET: Address = "0x0000000000000000000000000000000000000da7";
const MEMBERS: readonly Address[] = ["0x000000000000000000000000000000000000aaaa"];
const HINT = 100n;

/** The log of a committee of these members, in a block. */
function logOf(members: readonly Address[], block: bigint) {
  return {
    address: DATASET,
    topics: encodeEventTopics({ abi: datasetAbi, eventName: "CommitteeChanged" }),
    data: encodeAbiParameters([{ type: "address[]" }, { type: "uint256" }], [members, 5n]),
    blockNumber: numberToHex(block),
    blockHash: numberToHex(block, { size: 32 }),
    transactionHash: numberToHex(block, { size: 32 }),
    transactionIndex: "0x0",
    logIndex: "0x0",
    removed: false,
  };
}

/** Answers as a node of a chain on which contracts see `HINT` as the block of the last change of the committee. */
function startNode(logs: readonly ReturnType<typeof logOf>[], head = 10_000n) {
  const searched: [string, string][] = [];
  const selector = (functionName: "committeeHash" | "committeeBlock") =>
    encodeFunctionData({ abi: datasetAbi, functionName });
  const answers: Record<string, Hex> = {
    [selector("committeeHash")]: committeeHash({ members: MEMBERS, toleranceBps: 5n }),
    [selector("committeeBlock")]: numberToHex(HINT, { size: 32 }),
  };
  const request = async (method: string, params: unknown) => {
    const [first] = params as [{ data: Hex; fromBlock: string; toBlock: string }];
    if (method === "eth_call") return answers[first.data];
    if (method === "eth_blockNumber") return numberToHex(head);
    searched.push([first.fromBlock, first.toBlock]);
    return logs.filter(({ blockNumber }) => first.fromBlock === "earliest" || blockNumber === first.fromBlock);
  };
  return { client: createChainClient(42161, { request }), searched };
}

test("the committee is read from the block that the dataset names", async () => {
  const { client, searched } = startNode([logOf(MEMBERS, HINT)]);
  const { current } = await CommitteeCache.load({ client, address: DATASET }, pino({ level: "silent" }));
  expect(current.members.map((member) => member.toLowerCase())).toEqual(MEMBERS);
  expect(searched).toEqual([["0x64", "0x64"]]);
});

test("where contracts see the blocks of another chain, it is found in the whole chain by its hash", async () => {
  const others = ["0x000000000000000000000000000000000000bbbb"] as const;
  const { client, searched } = startNode([logOf(others, 5_000n), logOf(MEMBERS, 6_000n)]);
  const { current } = await CommitteeCache.load({ client, address: DATASET }, pino({ level: "silent" }));
  expect(current.members.map((member) => member.toLowerCase())).toEqual(MEMBERS);
  expect(searched).toEqual([
    ["0x64", "0x64"],
    ["earliest", "latest"],
  ]);
});

test("a block beyond the head of the chain is not searched, because nodes refuse that", async () => {
  const { client, searched } = startNode([logOf(MEMBERS, 7n)], HINT - 1n);
  const { current } = await CommitteeCache.load({ client, address: DATASET }, pino({ level: "silent" }));
  expect(current.members.map((member) => member.toLowerCase())).toEqual(MEMBERS);
  expect(searched).toEqual([["earliest", "latest"]]);
});

test("an endpoint that has no event of it is a failure", async () => {
  const { client } = startNode([]);
  const reason = expect.stringContaining("was found, in block 100 or any other; use an RPC that keeps old logs");
  await expect(CommitteeCache.load({ client, address: DATASET }, pino({ level: "silent" }))).rejects.toMatchObject({
    kind: "failed",
    reason,
  });
});
