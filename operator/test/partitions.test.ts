import { clockOf } from "@dataset-oracle/tools/clock-of";
import { expect, test } from "vitest";
import { rankMembers } from "../src/schedule/rank.js";
import { startCommittee } from "./support/committee.js";
import { startProviders } from "./support/stub-providers.js";

/** Members that have a provider and an operator each, and that all reach the chain. */

const KEYS = ["SPOTPX/A-USD", "SPOTPX/B-USD"];
const HEARTBEAT_SECONDS = 50;
/** A feed's first update begins that much before the end of its heartbeat. */
const SOON = { providerTimeoutMs: 3_000 };
let elapsedMs = 0;

const { chain, providers, members, dataset, start } = await startCommittee(4);
/** The link from each operator to each provider: a server of its own with the provider's key. */
const links = await Promise.all(members.map(() => startProviders(providers.map(({ account }) => account))));
const policy = { heartbeatSeconds: HEARTBEAT_SECONDS, deviationBps: 1_000_000, minIntervalSeconds: 1 };
const operators = await Promise.all(
  members.map((sender, i) => {
    // Beats are long enough for a busy machine, on which a round must not be two beats old when it is sent.
    const settings = { sender, stageMs: 1_000, beatSeconds: 4, feeds: [{ dataset, keys: KEYS, ...policy }], ...SOON };
    return start(settings, { clock: clockOf(() => Date.now() + elapsedMs) }, { providers: links[i] ?? [] });
  }),
);

async function untilStoredAfter(round: number): Promise<void> {
  const oldestRound = async () => {
    const stored = await Promise.all(KEYS.map((key) => chain.query(dataset, key)));
    return Math.min(...stored.map(({ updatedAt }) => Number(updatedAt)));
  };
  await expect.poll(oldestRound).toBeGreaterThan(round);
}

test("a member that is cut off sends nothing, also when it is its turn, and another keeps the feeds fresh", async () => {
  await untilStoredAfter(0);
  const before = (await chain.updates(dataset)).length;
  const { updatedAt: round } = await chain.query(dataset, KEYS[0] ?? "");
  const [leader] = rankMembers(dataset, { round }, members);
  const cutOff = members.indexOf(leader ?? "0x");
  for (const [from, all] of links.entries()) {
    for (const [to, link] of all.entries()) {
      if ((from === cutOff) !== (to === cutOff)) link.behavior = "closes the connection";
    }
  }
  elapsedMs += HEARTBEAT_SECONDS * 1_000;
  await chain.client.increaseTime({ seconds: HEARTBEAT_SECONDS });
  await untilStoredAfter((Date.now() + elapsedMs) / 1_000 - HEARTBEAT_SECONDS / 2);
  const updates = (await chain.updates(dataset)).slice(before);
  const sent = updates.map(({ transactionHash: hash }) => chain.client.getTransaction({ hash }));
  const senders = (await Promise.all(sent)).map(({ from }) => from.toLowerCase());
  expect(senders.length).toBeGreaterThanOrEqual(KEYS.length);
  expect(senders).not.toContain(operators[cutOff]?.account.address.toLowerCase());
});
