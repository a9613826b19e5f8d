import type { Address, Hex } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Chain, startChain } from "./support/chain.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { type Provider, startProviders } from "./support/stub-providers.js";

const MIN_AGE_SECONDS = 7;

let chain: Chain;
let providers: Provider[];
let operator: RunningOperator;
let dataset: Address;
/** The operator's clock stands still while a value has to be fresh, however long that takes. */
let stopped: number | null = null;

const body = (key: string, broadcast = true) => ({ network_id: 42, dataset, key, broadcast });

beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  const settings = { minUpdateAgeSeconds: MIN_AGE_SECONDS };
  const clock = () => stopped ?? Date.now();
  operator = await startOperator([{ chain, datasets: [dataset], providers, settings }], { clock });
});

afterEach(() => {
  stopped = null;
});

test("a fresh value is answered with the transaction that stored it, until it is as old as the setting", async () => {
  const key = "SPOTPX/ETH-USD";
  stopped = Date.now();
  const sent = await operator.ask(body(key), { prefer: "wait=10" });
  expect(sent).not.toHaveProperty("fresh");
  const nonce = await chain.nonce(operator.account.address);
  const asked = providers[0]?.asked.length;

  // A request of the same round would share the update.
  stopped += 1_000;
  const fresh = await operator.ask(body(key));
  expect(fresh).toEqual({ ...sent, reports: [], fresh: true });
  expect((await chain.client.getTransactionReceipt({ hash: fresh.transaction_hash as Hex })).status).toBe("success");
  expect(providers[0]?.asked.length).toBe(asked);
  expect(await chain.nonce(operator.account.address)).toBe(nonce);

  stopped = null;
  await new Promise((resolve) => setTimeout(resolve, (sent.timestamp + MIN_AGE_SECONDS) * 1000 - Date.now()));
  const second = await operator.ask(body(key), { prefer: "wait=10" });
  expect(second.timestamp).toBeGreaterThan(sent.timestamp);
  expect(second).not.toHaveProperty("fresh");
  expect(await chain.nonce(operator.account.address)).toBe(nonce + 1);
});

test("a request with broadcast false gets a transaction of a new round", async () => {
  const sent = await operator.ask(body("SPOTPX/BTC-USD"), { prefer: "wait=10" });
  const unsent = await operator.ask(body("SPOTPX/BTC-USD", false));
  expect(unsent).not.toHaveProperty("fresh");
  expect(unsent.timestamp).toBeGreaterThan(sent.timestamp);
  expect(unsent.transaction?.to).toBe(dataset);
});

test("a stored NOT_AVAILABLE does not count as a value, so the providers are asked again", async () => {
  const key = "SPOTPX/SOL-USD";
  for (const provider of providers) provider.behavior = "no data";
  const none = await operator.ask(body(key), { prefer: "wait=10" });
  for (const provider of providers) provider.behavior = "honest";
  expect(none.status).toBe("NOT_AVAILABLE");
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(await operator.ask(body(key), { prefer: "wait=10" })).toMatchObject({ status: "OK" });
});

test("another key's fresh value does not count", async () => {
  await operator.ask(body("SPOTPX/ADA-USD"), { prefer: "wait=10" });
  expect(await operator.ask(body("SPOTPX/ADA-EUR"))).not.toHaveProperty("fresh");
});
