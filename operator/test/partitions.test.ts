import { expect, test } from "vitest";
import { rankMembers } from "../src/schedule/rank.js";
import { startCommittee } from "./support/committee.js";
import { startProviders } from "./support/stub-providers.js";

/**
 * Four members, each with a provider and an operator, whose links are cut. All of them reach the chain. The time of the
 * operators and of the chain is moved on, so that each feed is due once in each test; `npm run bench:network` simulates
 * larger networks for hours.
 */

const KEYS = ["SPOTPX/A-USD", "SPOTPX/B-USD"];
const HEARTBEAT_SECONDS = 50;
let elapsedMs = 0;

const { chain, providers, members, dataset, start } = await startCommittee(4);
/** The link from each operator to each provider: a server of its own with the provider's key. */
const links = await Promise.all(members.map(() => startProviders(providers.map(({ account }) => account))));
const policy = { heartbeatSeconds: HEARTBEAT_SECONDS, deviationBps: 1_000_000, minIntervalSeconds: 1 };
const operators = await Promise.all(
  members.map((sender, i) => {
    // Beats are long enough for a busy machine, on which a round must not be two beats old when it is sent.
    const settings = { sender, stageMs: 1_000, beatSeconds: 4, feeds: [{ dataset, keys: KEYS, ...policy }] };
    return start(settings, { clock: () => Date.now() + elapsedMs }, { providers: links[i] ?? [] });
  }),
);

/** Cuts a group off from the others, in both directions, and joins all others. */
function split(group: readonly number[]): void {
  for (const [from, all] of links.entries()) {
    for (const [to, link] of all.entries()) {
      link.behavior = group.includes(from) === group.includes(to) ? "honest" : "closes the connection";
    }
  }
}

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
  // Each operator loses the calls to two providers.
  const lost = () =>
    links.map((all) =>
      all.reduce((sum, { behavior, askedForRows }) => sum + (behavior === "honest" ? 0 : askedForRows.length), 0),
    );
  const lostBefore = lost();
  const later = await passHeartbeat();
  const hasGathered = () => lost().map((count, i) => count >= (lostBefore[i] ?? 0) + 2);
  await expect.poll(hasGathered, { timeout: 60_000 }).toEqual(members.map(() => true));
  expect(await chain.updates(dataset)).toEqual(before);
  split([]);
  await untilStoredAfter(later);
});
