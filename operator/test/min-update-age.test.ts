import { afterEach, expect, test } from "vitest";
import { startCommittee, WAIT } from "./support/committee.js";

const MIN_AGE_SECONDS = 7;

/** The operator's clock stands still while a value has to be fresh, however long that takes. */
let stopped: number | null = null;
let passedMs = 0;

const { chain, providers, dataset, body, start } = await startCommittee(4);
const operator = await start(
  { minUpdateAgeSeconds: MIN_AGE_SECONDS },
  { clock: () => stopped ?? Date.now() + passedMs },
);

/** Lets time pass, for the chain too. */
async function pass(seconds: number): Promise<void> {
  passedMs += seconds * 1_000;
  await chain.client.increaseTime({ seconds });
}

afterEach(() => {
  stopped = null;
});

test("a fresh value is answered with the transaction that stored it, until it is as old as the setting", async () => {
  const key = "SPOTPX/ETH-USD";
  stopped = Date.now();
  const sent = await operator.ask(body(key), WAIT);
  expect(sent).not.toHaveProperty("fresh");
  const nonce = await chain.nonce(operator.account.address);
  const asked = providers[0]?.asked.length;

  // A request of the same round would share the update.
  stopped += 1_000;
  expect(await operator.ask(body(key))).toEqual({ ...sent, reports: [], fresh: true });
  expect(providers[0]?.asked.length).toBe(asked);
  expect(await chain.nonce(operator.account.address)).toBe(nonce);
  // Neither another key nor a transaction for the caller is fresh.
  expect(await operator.ask(body("SPOTPX/ETH-EUR"), WAIT)).not.toHaveProperty("fresh");
  const unsent = await operator.ask(body(key, false));
  expect(unsent).toMatchObject({ timestamp: sent.timestamp + 1, transaction: { to: dataset } });

  stopped = null;
  await pass(MIN_AGE_SECONDS);
  const second = await operator.ask(body(key), WAIT);
  expect(second.timestamp).toBeGreaterThan(sent.timestamp);
  expect(second).not.toHaveProperty("fresh");
});

test("a stored NOT_AVAILABLE does not count as a value, so the providers are asked again", async () => {
  const key = "SPOTPX/SOL-USD";
  for (const provider of providers) provider.behavior = "no data";
  expect(await operator.ask(body(key), WAIT)).toMatchObject({ status: "NOT_AVAILABLE" });
  for (const provider of providers) provider.behavior = "honest";
  // A request of the same round would share the update.
  await pass(1);
  expect(await operator.ask(body(key), WAIT)).toMatchObject({ status: "OK" });
});
