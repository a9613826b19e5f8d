import { seededChoices } from "@dataset-oracle/tools/seeded-random";
import type { Address } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rankMembers } from "../src/schedule/rank.js";
import { type Chain, startChain } from "./support/chain.js";
import { type FaultProxy, startFaultProxy } from "./support/fault-proxy.js";
import { type RunningOperator, startOperator } from "./support/operator.js";
import { startProviders } from "./support/stub-providers.js";

/**
 * Four members, each with a provider and an operator, whose links are cut. All of them reach the chain. The time of the
 * operators and of the chain is moved on, so that each feed is due once in each test; `npm run bench:network` simulates
 * larger networks for hours.
 */

const SIZE = 4;
const KEYS = ["SPOTPX/A-USD", "SPOTPX/B-USD"];
const HEARTBEAT_SECONDS = 50;
/** Long enough for a busy machine, on which a round must not be two beats old when it is sent. */
const BEAT_SECONDS = 4;

let chain: Chain;
let dataset: Address;
let members: readonly Address[];
let operators: readonly RunningOperator[];
/** The link from each operator to each provider. */
let links: readonly (readonly FaultProxy[])[];
/** How many calls of each operator were lost. */
const lost: readonly Record<string, number>[] = Array.from({ length: SIZE }, () => ({}));
let elapsedMs = 0;

beforeAll(async () => {
  const providers = await startProviders(SIZE);
  chain = await startChain();
  members = providers.map(({ address }) => address);
  dataset = await chain.deploy(members);
  const linksOf = (tally: Record<string, number>, from: number) =>
    providers.map(({ url }, to) => {
      const random = seededChoices(1, from * SIZE + to);
      return startFaultProxy(url, { random, tally, name: "provider", faults: ["dropped"] });
    });
  links = await Promise.all(lost.map((tally, from) => Promise.all(linksOf(tally, from))));
  const policy = { heartbeatSeconds: HEARTBEAT_SECONDS, deviationBps: 1_000_000, minIntervalSeconds: 1 };
  const clock = () => Date.now() + elapsedMs;
  operators = await Promise.all(
    providers.map(({ address }, from) => {
      const reached = providers.map((provider, to) => ({ ...provider, url: links[from]?.[to]?.url ?? "" }));
      const feeds = [{ dataset, keys: KEYS, ...policy }];
      const settings = { sender: address, stageMs: 1_000, beatSeconds: BEAT_SECONDS, feeds };
      return startOperator([{ chain, datasets: [dataset], providers: reached, settings }], { clock });
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

/** Lets a heartbeat pass. @returns The rounds that begin later, in seconds since 1970. */
async function passHeartbeat(): Promise<number> {
  elapsedMs += HEARTBEAT_SECONDS * 1_000;
  await chain.client.increaseTime({ seconds: HEARTBEAT_SECONDS });
  return (Date.now() + elapsedMs) / 1_000 - HEARTBEAT_SECONDS / 2;
}

async function untilStoredAfter(round: number): Promise<void> {
  const oldestRound = async () => {
    const stored = await Promise.all(KEYS.map((key) => chain.query(dataset, key)));
    return Math.min(...stored.map(({ updatedAt }) => Number(updatedAt)));
  };
  await expect.poll(oldestRound, { timeout: 60_000 }).toBeGreaterThan(round);
}

test("a member that is cut off sends nothing, also when it is its turn, and another keeps the feeds fresh", async () => {
  await untilStoredAfter(0);
  const before = (await chain.updates(dataset)).length;
  const { updatedAt: round } = await chain.query(dataset, KEYS[0] ?? "");
  const [leader] = rankMembers(dataset, { round }, members);
  const cutOff = members.indexOf(leader ?? "0x");
  split([cutOff]);
  await untilStoredAfter(await passHeartbeat());
  const updates = (await chain.updates(dataset)).slice(before);
  const sent = updates.map(({ transactionHash: hash }) => chain.client.getTransaction({ hash }));
  const senders = (await Promise.all(sent)).map(({ from }) => from.toLowerCase());
  expect(senders.length).toBeGreaterThanOrEqual(KEYS.length);
  expect(senders).not.toContain(operators[cutOff]?.account.address.toLowerCase());
});

test("without a quorum nobody sends, and the feeds are fresh again once the members reach each other", async () => {
  split([0, 1]);
  const before = await chain.updates(dataset);
  const lostBefore = lost.map((tally) => tally["provider: dropped"] ?? 0);
  const later = await passHeartbeat();
  // Of the calls of one gathering, each operator loses those to two providers, and makes them twice.
  const hasGathered = () => lost.map((tally, i) => (tally["provider: dropped"] ?? 0) >= (lostBefore[i] ?? 0) + 4);
  await expect.poll(hasGathered, { timeout: 60_000 }).toEqual(lost.map(() => true));
  expect(await chain.updates(dataset)).toEqual(before);
  cut(() => false);
  await untilStoredAfter(later);
});
