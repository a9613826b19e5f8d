import { freePort } from "@dataset-oracle/devnet/ports";
import { signReport } from "@dataset-oracle/protocol/report";
import { encodeUpdate } from "@dataset-oracle/protocol/update";
import Fastify, { type FastifyInstance } from "fastify";
import { type Address, getAddress, type Hex, numberToHex, parseGwei, stringToHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Node } from "../src/peers/nodes.js";
import { readSignedTransaction } from "../src/peers/signed-transaction.js";
import { TRANSACTIONS_PATH } from "../src/peers/transaction-sharing.js";
import { decodeCall } from "../src/update/decode-call.js";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/providers.js";

/** These tests run one node. The tests speak for a second one, whose shared transactions never reach the first. */

const KEY = "SPOTPX/ETH-USD";

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let node: RunningOperator;
let other: FastifyInstance;
/** The transactions that the second node was sent. */
const shared: Hex[] = [];
/** The transactions that the second node shows to those who ask. */
let shows: (round: number) => Promise<readonly Hex[]> = async () => [];
const [own, second] = [0, 1].map(() => privateKeyToAccount(generatePrivateKey())) as [
  PrivateKeyAccount,
  PrivateKeyAccount,
];

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  await chain.fund(second.address);
  other = Fastify({ forceCloseConnections: true });
  other.post(TRANSACTIONS_PATH, async ({ body }) => {
    shared.push((body as { raw: Hex }).raw);
    return {};
  });
  other.get(TRANSACTIONS_PATH, async ({ query }) => {
    const raws = await shows(Number((query as { round: string }).round));
    return raws.map((raw) => ({ network_id: 42, raw }));
  });
  const port = await freePort();
  await other.listen({ port });
  const peers = [own, second].map(({ address: submitter }, i): Node => {
    return { provider: providers[i]?.address ?? "0x", url: `http://127.0.0.1:${i === 0 ? 9 : port}`, submitter };
  });
  shows = async (round) => [await update(round)];
  const feed = { dataset, keys: [KEY], heartbeatSeconds: 3_600, deviationBps: 100, minIntervalSeconds: 3_600 };
  const settings = { peers, feeds: [feed], beatSeconds: 1, stuckSeconds: 2 };
  node = await startOperator([{ chain, datasets: [dataset], providers, settings }], { account: own });
});
afterAll(async () => {
  await node?.close();
  await other?.close();
  await Promise.all(providers?.map((provider) => provider.close()) ?? []);
  await chain?.close();
});

/** Signs an update of the feed as the second node does. */
async function update(at: number): Promise<Hex> {
  const key = stringToHex(KEY);
  const round = BigInt(at);
  const reports = await Promise.all(
    providers.map(async ({ address: provider, account, value: signed }) => {
      const value = numberToHex(signed, { size: 32 });
      const report = { chainId: 42, dataset, key, round, outcome: "OK", value } as const;
      return { provider, value, signature: await signReport(account, report) };
    }),
  );
  const committee = { members: providers.map(({ address }) => address), toleranceBps: 100n };
  const data = encodeUpdate("median", { key, round }, committee as never, "OK", reports);
  const fees = { maxFeePerGas: parseGwei("20"), maxPriorityFeePerGas: 1n };
  return second.signTransaction({ chainId: 42, nonce: 0, to: dataset, data, gas: 500_000n, ...fees });
}

test("before a node sends a round, it asks the others for a transaction that it may have missed, and submits that", async () => {
  await expect.poll(async () => (await chain.updates(dataset)).length, { timeout: 60_000 }).toBe(1);
  const [stored] = await chain.updates(dataset);
  const { from } = await chain.client.getTransaction({ hash: stored?.transactionHash ?? "0x" });
  expect(getAddress(from)).toBe(second.address);
  expect(await chain.nonce(own.address)).toBe(0);
});

test("a node shows its transactions to others, and shares those that replace them", async () => {
  await chain.client.setIntervalMining({ interval: 0 });
  const key = stringToHex("SPOTPX/STUCK-USD");
  const { timestamp } = await node.ask({ network_id: 42, dataset, key, broadcast: true });
  const versions = () => {
    const read = shared.map((raw) => readSignedTransaction(raw));
    return read.filter((one) => {
      const call = one && decodeCall(one.data);
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
  await chain.client.setIntervalMining({ interval: 1 });
});
