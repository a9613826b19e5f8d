import { setTimeout as sleep } from "node:timers/promises";
import { decodeUpdateCall } from "@dataset-oracle/protocol/decode-update-call";
import { type Address, getAddress, type Hex, keccak256, stringToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { type Chain, startChain } from "../../../../test/support/chain.js";
import { type RunningOperator, startOperator } from "../../../../test/support/operator.js";
import { type Provider, startProviders } from "../../../../test/support/stub-providers.js";
import { rankMembers } from "../../../schedule/rank.js";

const KEYS = ["SPOTPX/BTC-USD", "SPOTPX/ETH-USD"];
const HEARTBEAT_SECONDS = 14;
/** What a busy machine adds to the time of an update. */
const SLACK_SECONDS = 5;

let chain: Chain;
let providers: Provider[];
let dataset: Address;
let operators: RunningOperator[];

/** Starts an operator for each of four members, with the settings that all of them share. */
beforeAll(async () => {
  [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);
  dataset = await chain.deploy(providers.map(({ address }) => address));
  const policy = { heartbeatSeconds: HEARTBEAT_SECONDS, deviationBps: 1_000_000, minIntervalSeconds: 1 };
  operators = await Promise.all(
    providers.map(({ address: sender }) => {
      const settings = { feeds: [{ dataset, keys: KEYS, ...policy }], sender, stageMs: 2_500, beatSeconds: 2 };
      return startOperator([{ chain, datasets: [dataset], providers, settings }]);
    }),
  );
});

/** Waits until a number of keys was stored in all, and returns the events. */
async function updatesOnce(count: number) {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const updates = await chain.updates(dataset);
    if (updates.length >= count) return updates;
    if (Date.now() > giveUpAt) throw new Error(`${updates.length} of ${count} updates`);
    await sleep(100);
  }
}

/** Returns the transactions to the dataset so far, each with its sender and whether it stored something. */
async function mined() {
  const head = await chain.client.getBlockNumber({ cacheTime: 0 });
  const stored = new Set((await chain.updates(dataset)).map(({ transactionHash }) => transactionHash));
  const found: { readonly sender: Address; readonly isNeeded: boolean }[] = [];
  for (let blockNumber = 0n; blockNumber <= head; blockNumber++) {
    const { transactions } = await chain.client.getBlock({ blockNumber, includeTransactions: true });
    for (const { hash, to, from, input } of transactions) {
      if (to === null || getAddress(to) !== dataset || decodeUpdateCall(input) === null) continue;
      found.push({ sender: getAddress(from), isNeeded: stored.has(hash) });
    }
  }
  return found;
}

/** Returns the greatest age, in seconds, of a value that was replaced, by the blocks' own times. */
async function greatestAge(): Promise<number> {
  const logs = await chain.updates(dataset);
  const rounds = new Map<Hex, bigint>();
  let greatest = 0;
  for (const { keyHash = "0x", timestamp = 0n, blockHash } of logs) {
    const before = rounds.get(keyHash);
    rounds.set(keyHash, timestamp);
    if (before === undefined || blockHash === null) continue;
    const block = await chain.client.getBlock({ blockHash });
    greatest = Math.max(greatest, Number(block.timestamp - before));
  }
  return greatest;
}

test("four operators keep feeds fresh in turns with few duplicates, and go on when the one whose turn it is stops", async () => {
  const senders = operators.map(({ account }) => account.address);
  // Each key is stored for the first time by itself, and then twice more.
  await updatesOnce(3 * KEYS.length);
  const inTurns = await mined();
  expect(inTurns.filter(({ isNeeded }) => !isNeeded).length).toBeLessThanOrEqual(2);
  expect(senders).toEqual(expect.arrayContaining([...new Set(inTurns.map(({ sender }) => sender))]));

  // What was just stored is not due yet.
  const { updatedAt } = await chain.query(dataset, KEYS[0] ?? "");
  const order = rankMembers(
    dataset,
    { round: updatedAt },
    providers.map(({ address }) => address),
  );
  const next = providers.findIndex(({ address }) => address === order[0]);
  await operators[next]?.close();
  const stored = (await chain.updates(dataset)).length;
  const after = (await updatesOnce(stored + 2 * KEYS.length)).slice(stored);
  expect(new Set(after.map(({ keyHash }) => keyHash))).toEqual(new Set(KEYS.map((key) => keccak256(stringToHex(key)))));
  const all = await mined();
  expect(all.filter(({ isNeeded }) => !isNeeded).length).toBeLessThanOrEqual(3);
  expect(await greatestAge()).toBeLessThanOrEqual(HEARTBEAT_SECONDS + SLACK_SECONDS);
  // Somebody sent in the place of the one that had stopped, and said so.
  const failovers = operators.flatMap(({ log }) => log.filter((line) => line.includes("members of better ranks")));
  expect(failovers.length).toBeGreaterThanOrEqual(1);
});
