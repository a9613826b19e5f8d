import { setTimeout as delay } from "node:timers/promises";
import { seededChoices } from "@dataset-oracle/tools/seeded-random";
import type { Address } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Chain, startChain } from "./support/chain.js";
import { type FaultProxy, startFaultProxy } from "./support/fault-proxy.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { startProviders } from "./support/stub-providers.js";

/** Four members, each with a provider and an operator, whose links are cut. All of them reach the chain. */

const SIZE = 4;
const MEMBERS = Array.from({ length: SIZE }, (_, i) => i);
const KEYS = ["SPOTPX/A-USD", "SPOTPX/B-USD"];
const HEARTBEAT_SECONDS = 12;
/** How long after its heartbeat a feed is updated at the latest, as long as there is a quorum. */
const LATE_SECONDS = 10;
/** A round lies this far behind the time at which it begins, and an operator may have just begun one. */
const BEGUN_SECONDS = 5;

let chain: Chain;
let dataset: Address;
let operators: readonly RunningOperator[];
/** The link from each operator to each provider. */
let links: readonly (readonly FaultProxy[])[];

beforeAll(async () => {
  const providers = await startProviders(SIZE);
  chain = await startChain();
  dataset = await chain.deploy(providers.map(({ address }) => address));
  links = await Promise.all(
    MEMBERS.map((from) =>
      Promise.all(
        providers.map(({ url }, to) =>
          startFaultProxy(url, {
            ...{ random: seededChoices(1, from * SIZE + to), tally: {}, name: "provider", faults: ["dropped"] },
          }),
        ),
      ),
    ),
  );
  const policy = { heartbeatSeconds: HEARTBEAT_SECONDS, deviationBps: 1_000_000, minIntervalSeconds: 1 };
  operators = await Promise.all(
    providers.map(({ address }, from) => {
      const reached = providers.map((provider, to) => ({ ...provider, url: links[from]?.[to]?.url ?? "" }));
      const feeds = [{ dataset, keys: KEYS, ...policy }];
      const settings = { sender: address, stageMs: 2_500, beatSeconds: 1, feeds };
      return startOperator([{ chain, datasets: [dataset], providers: reached, settings }]);
    }),
  );
});

afterAll(() => Promise.all(links?.flat().map((link) => link.close()) ?? []));

/** Cuts members off from each other, in both directions, and joins all others. */
function cut(isCut: (a: number, b: number) => boolean): void {
  for (const [from, all] of links.entries()) {
    for (const [to, link] of all.entries()) link.faultRate = isCut(from, to) ? 1 : 0;
  }
}

const split = (group: readonly number[]) => cut((a, b) => group.includes(a) !== group.includes(b));

/** Returns the older of the keys' stored rounds, in seconds since 1970. */
async function oldestRound(): Promise<number> {
  const stored = await Promise.all(KEYS.map((key) => chain.query(dataset, key)));
  return Math.min(...stored.map(({ updatedAt }) => Number(updatedAt)));
}

const now = () => Date.now() / 1_000;

/** Waits until each key was updated a number of times by rounds that began later. */
async function updated(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const since = Math.floor(now());
    await expect.poll(oldestRound, { timeout: 60_000, interval: 250 }).toBeGreaterThan(since);
  }
}

/** Returns the updates of rounds since a time: by whom, and how old each key was before. */
async function updatesSince(time: number) {
  const previous = new Map<string, number>();
  const found: { readonly sender: Address; readonly age: number }[] = [];
  for (const { keyHash = "0x", timestamp = 0n, transactionHash, blockHash } of await chain.updates(dataset)) {
    const before = previous.get(keyHash);
    previous.set(keyHash, Number(timestamp));
    if (before === undefined || Number(timestamp) < time) continue;
    const [{ from: sender }, block] = await Promise.all([
      chain.client.getTransaction({ hash: transactionHash }),
      chain.client.getBlock({ blockHash }),
    ]);
    found.push({ sender, age: Number(block.timestamp) - before });
  }
  return found;
}

const senderOf = (member: number) => operators[member]?.account.address.toLowerCase();

test("a member that is cut off sends nothing, and the others keep the feeds fresh", async () => {
  await expect.poll(oldestRound, { timeout: 60_000 }).toBeGreaterThan(0);
  split([0]);
  const since = now() + BEGUN_SECONDS;
  await delay(BEGUN_SECONDS * 1_000);
  await updated(3);
  const updates = await updatesSince(since);
  expect(updates.length).toBeGreaterThanOrEqual(3 * KEYS.length - 2);
  expect(updates.map(({ sender }) => sender.toLowerCase())).not.toContain(senderOf(0));
  expect(Math.max(...updates.map(({ age }) => age))).toBeLessThanOrEqual(HEARTBEAT_SECONDS + LATE_SECONDS);
});

test("without a quorum nobody sends, and the feeds are fresh again once the members reach each other", async () => {
  split([0, 1]);
  const since = now() + BEGUN_SECONDS;
  await delay((BEGUN_SECONDS + 2 * HEARTBEAT_SECONDS) * 1_000);
  expect(await updatesSince(since)).toEqual([]);
  cut(() => false);
  const healedAt = now();
  await updated(1);
  expect(now() - healedAt).toBeLessThanOrEqual(HEARTBEAT_SECONDS + LATE_SECONDS);
});

test("the feeds stay fresh while each member is cut off from another", async () => {
  const since = now();
  cut((a, b) => a !== b && Math.floor(a / 2) === Math.floor(b / 2));
  await updated(4);
  const updates = await updatesSince(since);
  expect(updates.length).toBeGreaterThanOrEqual(3 * KEYS.length);
  expect(Math.max(...updates.map(({ age }) => age))).toBeLessThanOrEqual(HEARTBEAT_SECONDS + LATE_SECONDS);
});
