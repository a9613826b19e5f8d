import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { type Address, encodeAbiParameters, encodeEventTopics, type Hex, numberToHex } from "viem";
import { beforeEach, expect, test } from "vitest";
import type { Dataset } from "../../dataset/dataset.js";
import { createChainClient } from "../../rpc/client.js";
import type { HeldStatements } from "./held-statements.js";
import { MinedStatements } from "./mined-statements.js";

const ADDRESS: Address = "0x0000000000000000000000000000000000000da7";
const hashOf = (block: number) => numberToHex(block, { size: 32 });

/** The newest block, as the first node behind the balancer has it. */
let head: number;
/** The newest block of the node that answers with logs. */
let logsUpTo: number;
/** The blocks with an update, and those of them whose transactions a node has. */
let mined: number[];
let shown: number[];
/** The blocks whose transactions were read. */
let read: number[];
let statements: MinedStatements;

beforeEach(() => {
  [head, logsUpTo, mined, shown, read] = [100, 100, [], [], []];
  const client = createChainClient(42, { request });
  statements = new MinedStatements({ client, address: ADDRESS } as Dataset, {} as HeldStatements);
});

async function request(method: string, [first]: readonly unknown[]): Promise<unknown> {
  if (method === "eth_blockNumber") return numberToHex(head);
  if (method === "eth_getTransactionByHash") {
    const block = Number(first);
    if (!shown.includes(block)) return null;
    read.push(block);
    return { hash: first, from: ADDRESS, to: ADDRESS, input: "0x" };
  }
  const { fromBlock, toBlock } = first as { fromBlock: Hex; toBlock: Hex | "latest" };
  const to = Math.min(logsUpTo, toBlock === "latest" ? logsUpTo : Number(toBlock));
  return mined.filter((block) => block >= Number(fromBlock) && block <= to).map(logOf);
}

function logOf(block: number) {
  const [blockHash, transactionHash] = [hashOf(block), hashOf(block)];
  return {
    ...{ address: ADDRESS, blockNumber: numberToHex(block), blockHash, transactionHash },
    ...{ logIndex: "0x0", transactionIndex: "0x0", removed: false },
    topics: encodeEventTopics({ abi: datasetAbi, eventName: "Updated", args: { keyHash: hashOf(1) } }),
    data: encodeAbiParameters([{ type: "bytes32" }, { type: "uint256" }, { type: "uint8" }], [hashOf(7), 1n, 1]),
  };
}

/** Lets the chain grow by blocks with an update each, and looks. */
async function look(blocks: number): Promise<void> {
  const added = Array.from({ length: blocks }, (_, index) => head + index + 1);
  head += blocks;
  mined.push(...added);
  shown.push(...added);
  await statements.read();
}

test("each update is read once, beginning after the head at the start", async () => {
  await look(1);
  for (const blocks of [2, 0, 3]) {
    logsUpTo = head + blocks;
    await look(blocks);
  }
  expect(read).toEqual([102, 103, 104, 105, 106]);
});

test("a block that a node does not have yet is read when it has it", async () => {
  await look(0);
  await look(2);
  expect(read).toEqual([]);
  logsUpTo = 101;
  await look(1);
  expect(read).toEqual([101]);
  logsUpTo = 103;
  await look(0);
  expect(read).toEqual([101, 102, 103]);
});

test("a transaction that a node does not have yet is read when it has it", async () => {
  await look(0);
  logsUpTo = 102;
  [head, mined] = [102, [101, 102]];
  shown = [102];
  await look(0);
  expect(read).toEqual([102]);
  shown = [101, 102];
  await look(0);
  expect(read).toEqual([102, 101]);
});

test("a false head hides nothing", async () => {
  await look(0);
  head = 2 ** 50;
  await look(0);
  head = 100;
  for (let looks = 0; looks < 10; looks++) {
    logsUpTo = head + 1;
    await look(1);
  }
  expect(read).toEqual([101, 102, 103, 104, 105, 106, 107, 108, 109, 110]);
});
