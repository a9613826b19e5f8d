import type { Hex } from "viem";
import { afterEach, expect, test } from "vitest";
import { startCommittee } from "./support/committee.js";
import { startOperator } from "./support/operator.js";

const MIN_AGE_SECONDS = 7;

/** The operator's clock stands still while a value has to be fresh, however long that takes. */
let stopped: number | null = null;
let passedMs = 0;

/** Lets time pass, for the chain too. */
async function pass(seconds: number): Promise<void> {
  passedMs += seconds * 1_000;
  await chain.client.increaseTime({ seconds });
}

const body = (key: string, broadcast = true) => ({ network_id: 42, dataset, key, broadcast });

const { chain, providers, dataset } = await startCommittee(4);
const settings = { minUpdateAgeSeconds: MIN_AGE_SECONDS };
const clock = () => stopped ?? Date.now() + passedMs;
const operator = await startOperator([{ chain, datasets: [dataset], providers, settings }], { clock });

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
  await pass(MIN_AGE_SECONDS);
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
  // A request of the same round would share the update.
  await pass(1);
  expect(await operator.ask(body(key), { prefer: "wait=10" })).toMatchObject({ status: "OK" });
});

test("another key's fresh value does not count", async () => {
  await operator.ask(body("SPOTPX/ADA-USD"), { prefer: "wait=10" });
  expect(await operator.ask(body("SPOTPX/ADA-EUR"))).not.toHaveProperty("fresh");
});
