import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Address,
  createWalletClient,
  custom,
  decodeFunctionData,
  encodeErrorResult,
  type Hex,
  numberToHex,
  parseAbi,
  parseTransaction,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeEach, expect, test } from "vitest";
import { spotPriceKey } from "../dataset-key.js";
import { packUpdate } from "../packed-update.js";
import { encodeUpdateCall } from "../update-call.js";
import { DataRequestError } from "./data-request-error.js";
import { WrongChainError } from "./send-and-wait.js";
import { sendUpdate } from "./send-update.js";
import { writeContractWithUpdate } from "./write-contract-with-update.js";

const DATASET: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const CONSUMER: Address = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
const ACCOUNT: Address = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720";
const HASH: Hex = `0x${"ab".repeat(32)}`;
const ABI = parseAbi(["function refreshWith(bytes update)", "error Forged()", "error Closed()"]);

const VALUE = numberToHex(7n, { size: 32 });
/** An update of a round: the wallet's node finds those of round 13 forged. */
const updateOf = (round: bigint) =>
  packUpdate({
    ...{ kind: "update", key: spotPriceKey("ETH-USD"), round, toleranceBps: 50n, outcome: "OK", value: VALUE },
    members: [{ value: VALUE, r: HASH, vs: HASH }],
  });
const FORGED = updateOf(13n);
const UPDATE_CALL = encodeUpdateCall(updateOf(7n));
const TRANSACTION = { chainId: 42, to: DATASET, data: UPDATE_CALL, value: 0n, gas: 200_000n } as const;

const answerWith = (round: bigint) => (response: ServerResponse) =>
  response.writeHead(200, { "content-type": "application/json" }).end(
    JSON.stringify({
      network_id: 42,
      dataset: DATASET,
      key: "SPOTPX/ETH-USD",
      key_hex: spotPriceKey("ETH-USD"),
      status: "OK",
      value: "7",
      timestamp: Number(round),
      reports: [],
      update: updateOf(round),
      transaction: { chainId: "0x2a", to: DATASET, data: encodeUpdateCall(updateOf(round)), gas: "0x30d40" },
    }),
  );

let asked: string[] = [];
let onAnswer = () => {};
const OPERATORS: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  "/honest": answerWith(7n),
  "/forged": answerWith(13n),
  "/endless": (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const fill = () => response.write(" ".repeat(65_536), () => setImmediate(fill));
    fill();
    response.on("close", () => asked.push("closed"));
  },
};
const server = createServer((request, response) => {
  const path = (request.url ?? "").replace("/data/request", "");
  asked.push(path);
  request.resume();
  onAnswer();
  OPERATORS[path]?.(response);
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** The wallet's network and node. */
let wallet = {
  chainId: 42,
  onEstimate: () => {},
  onChainId: (_count: number) => {},
  error: "Forged" as "Forged" | "Closed",
};
let sent: { readonly data?: Hex; readonly raw?: Hex }[] = [];
let chainIds = 0;
beforeEach(() => {
  [asked, sent, chainIds] = [[], [], 0];
  onAnswer = () => {};
  wallet = { chainId: 42, onEstimate: () => {}, onChainId: () => {}, error: "Forged" };
});

async function request({ method, params }: { method: string; params?: unknown }): Promise<unknown> {
  const [call] = (params ?? []) as [{ data: Hex }];
  if (method === "eth_chainId") {
    wallet.onChainId(++chainIds);
    return numberToHex(wallet.chainId);
  }
  if (method === "eth_estimateGas") {
    wallet.onEstimate();
    const [update] = decodeFunctionData({ abi: ABI, data: call.data }).args;
    if (update !== FORGED && wallet.error === "Forged") return numberToHex(70_000);
    const data = encodeErrorResult({ abi: ABI, errorName: wallet.error });
    throw Object.assign(new Error("execution reverted"), { code: 3, data });
  }
  if (method === "eth_sendTransaction") return sent.push(call) && HASH;
  if (method === "eth_sendRawTransaction") return sent.push({ raw: call as unknown as Hex }) && HASH;
  if (method === "eth_getTransactionCount") return "0x0";
  if (method === "eth_getBlockByNumber") return { number: "0x1", baseFeePerGas: "0x7", transactions: [] };
  if (method === "eth_maxPriorityFeePerGas") return "0x1";
  throw new Error(`${method} is not answered here.`);
}
const client = createWalletClient({ account: ACCOUNT, transport: custom({ request }, { retryCount: 0 }) });

const write = (paths: readonly string[], walletClient = client) =>
  writeContractWithUpdate(walletClient, {
    address: CONSUMER,
    abi: ABI,
    functionName: "refreshWith",
    args: (update) => [update],
    value: 1n,
    update: { url: paths.map((path) => base + path), dataset: DATASET, key: "SPOTPX/ETH-USD" },
  });
/** Switches the wallet when its chain is looked at for the so manyth time. */
const switchAt = (look: number) => {
  wallet.onChainId = (count) => {
    if (count === look) wallet.chainId = 1;
  };
};
const failure = async (writing: Promise<unknown>) =>
  writing.then(
    () => expect.unreachable(),
    (error) => error,
  );
const updatesSent = () => sent.map(({ data }) => decodeFunctionData({ abi: ABI, data: data ?? "0x" }).args[0]);

test("the transaction has the update, and gas for the call and the update", async () => {
  expect(await write(["/honest"])).toBe(HASH);
  expect(sent).toEqual([expect.objectContaining({ value: "0x1", gas: numberToHex(70_000 + 200_000) })]);
  expect(updatesSent()).toEqual([updateOf(7n)]);
});

test.each<[when: string, change: () => void]>([
  ["while the operator was asked", () => (onAnswer = () => (wallet.chainId = 1))],
  ["while the gas was estimated", () => (wallet.onEstimate = () => (wallet.chainId = 1))],
  [
    "after the last operator's update reverted on the other chain",
    () => {
      wallet.error = "Closed";
      wallet.onEstimate = () => (wallet.chainId = 1);
    },
  ],
])("a wallet that was switched %s is named both chains, and nothing is sent", async (_, change) => {
  change();
  const error = await failure(write(["/honest"]));
  expect(error).toBeInstanceOf(WrongChainError);
  expect(error).toMatchObject({ chainId: 1, expected: 42, message: expect.stringMatching(/chain 1\b.*chain 42\b/) });
  expect(sent).toEqual([]);
});

test("a wallet that is switched at any look at its chain gets no transaction, and an error that names both chains", async () => {
  await write(["/honest"]);
  const last = chainIds;
  sent = [];
  for (let look = 2; look <= last; ++look) {
    chainIds = 0;
    wallet.chainId = 42;
    switchAt(look);
    const error = await failure(write(["/honest"]));
    expect(error.message).toMatch(/\b1\b/);
    expect(error.message).toMatch(/\b42\b/);
  }
  expect(sent).toEqual([]);
});

test("an update from requestUpdate is sent for its chain only, too", async () => {
  const sending = () =>
    failure(
      sendUpdate(client, {
        transaction: TRANSACTION,
        timeoutMs: 1,
        onSent: () => {
          throw new Error("sent");
        },
      }),
    );
  expect((await sending()).message).toBe("sent");
  expect(sent).toHaveLength(1);
  const looks = chainIds;
  switchAt(2 * looks);
  expect((await sending()).message).toMatch(/\b1\b[\s\S]*\b42\b/);
  expect(sent).toHaveLength(1);
});

test("a local account signs for the chain of the update", async () => {
  const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
  const local = createWalletClient({ account, transport: custom({ request }, { retryCount: 0 }) });
  // The wallet is switched right after the look at its chain: what is signed is of no use there.
  wallet.onChainId = () => queueMicrotask(() => (wallet.chainId = 1));
  await failure(sendUpdate(local, { transaction: TRANSACTION, timeoutMs: 1 }));
  expect(sent).toHaveLength(1);
  for (const { raw } of sent) expect(parseTransaction(raw ?? "0x").chainId).toBe(42);
});

test("the next operator is asked when the update of one makes the call revert", async () => {
  expect(await write(["/forged", "/honest"])).toBe(HASH);
  expect(asked).toEqual(["/forged", "/honest"]);
  expect(updatesSent()).toEqual([updateOf(7n)]);
});

test("the contract's own error is thrown when all updates make it revert, also if another operator fails", async () => {
  const error = await failure(write(["/forged", "/endless"]));
  expect(error.walk((cause: Error) => cause.name === "ContractFunctionRevertedError")).toMatchObject({
    data: { errorName: "Forged" },
  });
  wallet.error = "Closed";
  const closed = await failure(write(["/forged", "/honest"]));
  expect(closed.shortMessage + closed.message).toContain("Closed()");
  expect(sent).toEqual([]);
});

test("an endless answer is not read to its end, and the next operator is asked", async () => {
  expect(await write(["/endless", "/honest"])).toBe(HASH);
  await expect.poll(() => asked).toContain("closed");
  const error = await failure(write(["/endless"]));
  expect(error).toBeInstanceOf(DataRequestError);
  expect(error).toMatchObject({ problem: { code: "unexpected_answer", status: 200 } });
  expect(error.message).toContain("has more than 1048576 characters");
});

test("what is not an operator's fault is not tried again", async () => {
  wallet.onEstimate = () => {
    throw Object.assign(new Error("The node is out of order."), { code: -32_005 });
  };
  const error = await failure(write(["/honest", "/forged"]));
  expect(error.message).toContain("The node is out of order.");
  expect(asked.filter((path) => path !== "closed")).toEqual(["/honest"]);
  await expect(write([])).rejects.toThrow("There is no operator to ask.");
});
