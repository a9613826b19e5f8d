import { type Address, createClient, custom, encodeAbiParameters, encodeEventTopics, type Hex, keccak256 } from "viem";
import { expect, test } from "vitest";
import { datasetAbi } from "../abi/dataset.js";
import { spotPriceKey } from "../dataset-key.js";
import { packUpdate } from "../packed-update.js";
import { encodeUpdateCall } from "../update-call.js";
import { sendUpdate } from "./send-update.js";

const DATASET: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const HASH: Hex = `0x${"ab".repeat(32)}`;
const KEY = spotPriceKey("ETH-USD");
const ROUND = 1_790_000_000n;

/** The log of a stored round. */
function logOf(key: Hex, round: bigint) {
  const types = [{ type: "bytes32" }, { type: "uint256" }, { type: "uint8" }] as const;
  const topics = encodeEventTopics({ abi: datasetAbi, eventName: "Updated", args: { keyHash: keccak256(key) } });
  return { address: DATASET, topics, data: encodeAbiParameters(types, [HASH, round, 1]) };
}

test.each([
  ["its own round", [logOf(KEY, ROUND)], true],
  [
    "other keys and rounds, in a smart account's bundle",
    [logOf(spotPriceKey("BTC-USD"), ROUND), logOf(KEY, 1n)],
    false,
  ],
  ["nothing", [], false],
])("a transaction that stored %s is reported so", async (_, logs, isStored) => {
  const answers: Readonly<Record<string, unknown>> = {
    eth_chainId: "0x2a",
    eth_blockNumber: "0x1",
    eth_sendTransaction: HASH,
    eth_getTransactionReceipt: { transactionHash: HASH, status: "0x1", blockNumber: "0x1", logs },
  };
  const provider = { request: async ({ method }: { method: string }) => answers[method] ?? null };
  const client = createClient({ transport: custom(provider), pollingInterval: 1 });
  const members = [{ value: HASH, r: HASH, vs: HASH }];
  const update = {
    kind: "update",
    key: KEY,
    round: ROUND,
    toleranceBps: 50n,
    outcome: "OK",
    value: HASH,
    members,
  } as const;
  const data = encodeUpdateCall(packUpdate(update));
  const transaction = { chainId: 42, to: DATASET, data, value: 0n, gas: 200_000n } as const;
  expect(await sendUpdate(client, { account: DATASET, transaction })).toMatchObject({ isStored });
});
