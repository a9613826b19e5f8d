import { decodeUpdateCall } from "@dataset-oracle/protocol/decode-update-call";
import { type Address, type Hex, keccak256, parseGwei, stringToHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Network } from "../src/network.js";
import { TRANSACTIONS_PATH } from "../src/peers/share-transactions.js";
import { readSignedTransaction } from "../src/peers/signed-transaction.js";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { signedUpdate } from "./support/signed-update.js";
import { type StubNode, startStubNode } from "./support/stub-node.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

/** These tests run one node; the tests speak for a second one, which has an account and a server. */

const KEY = stringToHex("SPOTPX/ETH-USD");

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let node: RunningOperator;
let network: Network;
let second: StubNode;

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  second = await startStubNode(providers);
  await chain.fund(second.account.address);
  const served = { chain, datasets: [dataset], providers, settings: { peers: second.peers, stuckSeconds: 2 } };
  node = await startOperator([served], { account: second.own });
  network = node.networks.get(42) as Network;
});

const now = () => Math.floor(Date.now() / 1000) - 2;

interface Made {
  readonly round?: number;
  readonly signers?: number;
  readonly by?: () => PrivateKeyAccount;
  readonly data?: Hex;
  readonly to?: Address;
  readonly gas?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly nonce?: number;
  readonly chainId?: number;
  readonly value?: bigint;
}

/** Signs an update as a node does, with one thing changed, and does not send it. */
async function make(made: Made = {}): Promise<Hex> {
  const { round = now(), signers = 4, to = dataset, gas = 500_000n, nonce = 0, chainId = 42 } = made;
  const by = made.by?.() ?? second.account;
  const update = () => signedUpdate(dataset, KEY, BigInt(round), providers, { signers: providers.slice(0, signers) });
  const data = made.data ?? (await update()).data;
  const { maxFeePerGas = parseGwei("20"), value: paid = 0n } = made;
  const fees = { maxFeePerGas, maxPriorityFeePerGas: 1n };
  return by.signTransaction({ type: "eip1559", chainId, nonce, to, data, gas, value: paid, ...fees });
}

async function send(raw: Hex, path = TRANSACTIONS_PATH) {
  const response = await fetch(`${node.base}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ network_id: 42, raw }),
  });
  return { status: response.status, body: (await response.json()) as { code?: string; detail?: string } };
}

test("a node holds another's transaction, and finds the newest one for its keys", async () => {
  expect(network.transactions.find(dataset, [KEY], 0n)).toBeNull();
  const round = now() - 1;
  const raws = [await make({ round }), await make({ round: round + 1, nonce: 1 })];
  for (const raw of raws) expect(await send(raw)).toEqual({ status: 200, body: { transaction_hash: keccak256(raw) } });
  const newest = { raw: raws[1], hash: keccak256(raws[1] ?? "0x") };
  expect(network.transactions.find(dataset, [KEY], BigInt(round))).toMatchObject(newest);
  expect(network.transactions.find(dataset, [KEY], BigInt(round + 1))).toMatchObject(newest);
  expect(network.transactions.find(dataset, [KEY], BigInt(round + 2))).toBeNull();
  expect(network.transactions.find(dataset, [KEY, "0x1234"], BigInt(round))).toBeNull();
  // Nothing was sent.
  expect(await chain.nonce(second.account.address)).toBe(0);
});

test("a node holds another's cancellation and its stale updates, because its later transactions have to wait for them", async () => {
  const { address } = second.account;
  // The key of the other tests must not be stored: its updates would be stale, too.
  const key = stringToHex("SPOTPX/STALE-USD");
  const { data } = await signedUpdate(dataset, key, BigInt(now() - 5), providers);
  const stale = await make({ data, nonce: 3 });
  const { transaction_hash } = await node.ask({ network_id: 42, dataset, key, broadcast: true });
  await chain.client.waitForTransactionReceipt({ hash: transaction_hash as Hex });
  const cancellation = await make({ to: address, data: "0x", gas: 21_000n, nonce: 2 });
  for (const raw of [stale, cancellation]) expect(await send(raw)).toMatchObject({ status: 200 });
  const held = network.transactions.by(address).filter(({ nonce }) => nonce >= 2);
  expect(held.map(({ raw }) => raw)).toEqual([cancellation, stale]);
  expect(network.transactions.find(dataset, [key], 0n)).toBeNull();
});

describe("a transaction is refused that", () => {
  const stranger = privateKeyToAccount(generatePrivateKey());
  test.each<[string, Made, string]>([
    ["a stranger signed", { by: () => stranger }, "is not the submitter of another node"],
    ["this node signed", { by: () => second.own }, "is not the submitter of another node"],
    ["is for another contract", { to: stranger.address }, "is not a dataset served here"],
    ["is for another chain", { chainId: 43 }, "is not a dataset served here"],
    ["is no update", { data: "0x12345678" }, "Its call is not an update"],
    ["pays the dataset", { value: 1n }, "not a valid signed transaction"],
    ["is of an old round", { round: now() - 400 }, "is not from the last 300 s"],
    ["is of a later round", { round: now() + 60 }, "is not from the last 300 s"],
    ["has a nonce far ahead", { nonce: 64 }, "Its nonce is 64"],
    ["pays less than the base fee", { maxFeePerGas: 1n }, "It pays at most 1 wei per gas"],
    [
      "costs more than its sender has",
      { gas: 29_000_000n, maxFeePerGas: parseGwei("100000") },
      "less than the transaction may cost",
    ],
    ["has too little gas", { gas: 30_000n }, "Its gas limit, 30000, is too low"],
    ["has too few reports", { signers: 2 }, "The dataset refuses the update"],
  ])("%s", async (_, made, detail) => {
    const { status, body } = await send(await make({ nonce: 2, ...made }));
    expect(body).toMatchObject({ code: "invalid_transaction", detail: expect.stringContaining(detail) });
    expect(status).toBe(422);
  });

  test("is not one", async () => {
    expect(await send("0x02f86b")).toMatchObject({ status: 422, body: { code: "invalid_transaction" } });
    expect(await send("0xzz")).toMatchObject({ status: 400, body: { code: "invalid_body" } });
  });
});

test("a node shares what it sends", async () => {
  const before = second.shared.length;
  // The tests do not speak for the second node's turns.
  const { transaction_hash } = await node.ask({ network_id: 42, dataset, key: "SPOTPX/SHARED-USD", broadcast: true });
  await expect.poll(() => second.shared.slice(before).map((raw) => keccak256(raw))).toEqual([transaction_hash]);
});

test("a node shows its transactions to others, and shares those that replace them", async () => {
  // Only the first of several pending transactions is replaced.
  const count = (blockTag: "latest" | "pending") =>
    chain.client.getTransactionCount({ address: second.own.address, blockTag });
  await expect.poll(async () => (await count("pending")) - (await count("latest")), { timeout: 10_000 }).toBe(0);
  await chain.client.setIntervalMining({ interval: 0 });
  onTestFinished(() => chain.client.setIntervalMining({ interval: 1 }));
  const key = stringToHex("SPOTPX/STUCK-USD");
  const { timestamp } = await node.ask({ network_id: 42, dataset, key, broadcast: true });
  const versions = () => {
    const read = second.shared.map((raw) => readSignedTransaction(raw));
    return read.filter((one) => {
      const call = one && decodeUpdateCall(one.data);
      return call?.kind === "update" && call.key === key;
    });
  };
  await expect.poll(() => versions().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
  const [first, replacement] = versions();
  expect(replacement?.nonce).toBe(first?.nonce);
  expect(replacement?.maxFeePerGas ?? 0n).toBeGreaterThan(first?.maxFeePerGas ?? 0n);

  const query = new URLSearchParams({ network_id: "42", dataset, key, round: String(timestamp) });
  const shown = async () => (await (await fetch(`${node.base}${TRANSACTIONS_PATH}?${query}`)).json()) as unknown;
  // Only the newest of a nonce can be mined.
  await expect.poll(shown).toEqual([{ network_id: 42, raw: expect.stringMatching(/^0x/) }]);
  expect(await shown()).toEqual([{ network_id: 42, raw: versions().at(-1)?.raw }]);
  query.set("round", String(timestamp + 600));
  expect(await shown()).toEqual([]);
});
