import { freePort } from "@dataset-oracle/devnet/ports";
import { signReport } from "@dataset-oracle/protocol/report";
import { encodeUpdate } from "@dataset-oracle/protocol/update";
import Fastify, { type FastifyInstance } from "fastify";
import { type Address, type Hex, keccak256, numberToHex, parseGwei, stringToHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Network } from "../src/network.js";
import type { Node } from "../src/peers/nodes.js";
import { TRANSACTIONS_PATH } from "../src/peers/transaction-sharing.js";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/providers.js";

/** These tests run one node; the tests speak for a second one, which has an account and a server. */

const KEY = stringToHex("SPOTPX/ETH-USD");

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let node: RunningOperator;
let network: Network;
let other: FastifyInstance;
/** The bodies that the second node was sent. */
const shared: { network_id: number; raw: Hex }[] = [];
const [own, second] = [0, 1].map(() => privateKeyToAccount(generatePrivateKey())) as [
  PrivateKeyAccount,
  PrivateKeyAccount,
];

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  other = Fastify({ forceCloseConnections: true });
  other.post(TRANSACTIONS_PATH, async (request) => {
    shared.push(request.body as never);
    return {};
  });
  const port = await freePort();
  await other.listen({ port });
  await chain.fund(second.address);
  const peers = [own, second].map(({ address: submitter }, i): Node => {
    return { provider: providers[i]?.address ?? "0x", url: `http://127.0.0.1:${i === 0 ? 9 : port}`, submitter };
  });
  const served = { chain, datasets: [dataset], providers, settings: { peers } };
  node = await startOperator([served], { account: own });
  network = node.networks.get(42) as Network;
});
afterAll(async () => {
  await node?.close();
  await other?.close();
  await Promise.all(providers?.map((provider) => provider.close()) ?? []);
  await chain?.close();
});

const now = () => Math.floor(Date.now() / 1000) - 2;

interface Made {
  readonly round?: number;
  readonly signers?: number;
  readonly by?: PrivateKeyAccount;
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
  const { round = now(), signers = 4, by = second, to = dataset, gas = 500_000n, nonce = 0, chainId = 42 } = made;
  const value = numberToHex(5n, { size: 32 });
  const report = { chainId: 42, dataset, key: KEY, round: BigInt(round), outcome: "OK", value } as const;
  const reports = await Promise.all(
    providers.slice(0, signers).map(async ({ address: provider, account }) => {
      return { provider, value, signature: await signReport(account, report) };
    }),
  );
  const committee = { members: providers.map(({ address }) => address), toleranceBps: 100n };
  const data =
    made.data ?? encodeUpdate("median", { key: KEY, round: BigInt(round) }, committee as never, "OK", reports);
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
  expect(await chain.nonce(second.address)).toBe(0);
});

describe("a transaction is refused that", () => {
  const stranger = privateKeyToAccount(generatePrivateKey());
  test.each<[string, Made, string]>([
    ["a stranger signed", { by: stranger }, "is not the submitter of another node"],
    ["this node signed", { by: own }, "is not the submitter of another node"],
    ["is for another contract", { to: stranger.address }, "is not a dataset served here"],
    ["is for another chain", { chainId: 43 }, "is not a dataset served here"],
    ["is no update", { data: "0x12345678" }, "Its call is not an update"],
    ["pays the dataset", { value: 1n }, "not a signed call without value"],
    ["is of an old round", { round: now() - 400 }, "is not of the last 300 s"],
    ["is of a later round", { round: now() + 60 }, "is not of the last 300 s"],
    ["has a nonce far ahead", { nonce: 64 }, "Its nonce is 64"],
    ["pays less than the base fee", { maxFeePerGas: 1n }, "It pays 1 wei per gas"],
    [
      "costs more than its sender has",
      { gas: 29_000_000n, maxFeePerGas: parseGwei("100000") },
      "less than it may cost",
    ],
    ["has too little gas", { gas: 30_000n }, "Its gas limit is 30000"],
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
  // The tests do not speak for the second node's turns.
  const { transaction_hash } = await node.ask({ network_id: 42, dataset, key: "SPOTPX/SHARED-USD", broadcast: true });
  await expect.poll(() => shared.map(({ raw }) => keccak256(raw))).toEqual([transaction_hash]);
});
