import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { type Address, keccak256, stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { OperatorProcess } from "./chaos/fleet.js";
import { startChain } from "./support/chain.js";
import { startOperator } from "./support/operator.js";
import { startProviders } from "./support/stub-providers.js";

/** The drills of an operator: what happens to it once in some years, and what its owner can count on then. */

const TEN_MINUTES_MS = 600_000;
/** New for each test, so that nothing is stored. */
let dataset: Address;

const [chain, providers] = await Promise.all([startChain(42), startProviders(4)]);

beforeEach(async () => {
  dataset = await chain.deploy(providers.map(({ address }) => address));
});

const storedRound = async (key: string) => Number((await chain.query(dataset, key)).updatedAt);

test("replace the operator's machine while transactions are pending: none is lost, and none is sent twice", async () => {
  const privateKey = generatePrivateKey();
  const account = privateKeyToAccount(privateKey);
  await chain.fund(account.address);
  const folder = mkdtempSync(join(tmpdir(), "machine-"));
  const port = await freePort();
  const urls = providers.map((provider) => ({ address: provider.address, url: provider.url }));
  const network = {
    datasets: [dataset],
    networkId: 42,
    rpcUrls: [chain.url],
    providers: urls,
    gasPercentPerCaller: 100,
  };
  writeFileSync(join(folder, "operator.json"), JSON.stringify({ port, metricsPort: 0, networks: [network] }));
  const old = new OperatorProcess(join(folder, "operator.json"), port, privateKey);
  onTestFinished(() => old.end("SIGKILL"));
  await old.start();
  await chain.pauseMining();
  onTestFinished(() => chain.resumeMining());
  const request = (key: string) => ({ network_id: 42, dataset, key, broadcast: true });
  const broadcast = async (key: string): Promise<DataAnswer> => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(request(key)), signal: AbortSignal.timeout(25_000) };
    const response = await fetch(`${old.url}/data/request`, init);
    const answer = (await response.json()) as DataAnswer;
    expect([response.status, answer.transaction_hash]).toEqual([200, expect.stringMatching(/^0x/)]);
    return answer;
  };
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => broadcast(`SPOTPX/K${i}-USD`)));
  await old.end("SIGKILL");

  // It has the key, and nothing else of the old one.
  const next = await startOperator([{ chain, datasets: [dataset], providers }], { account });
  onTestFinished(() => next.close());
  answers.push(await next.ask(request("SPOTPX/LAST-USD")));
  await chain.resumeMining();
  for (const { key, timestamp } of answers) {
    await expect.poll(() => storedRound(key ?? "")).toBeGreaterThanOrEqual(timestamp);
  }
  expect(await chain.client.getTransactionCount({ address: account.address })).toBe(answers.length);
  const updates = await chain.updates(dataset);
  const hashes = answers.map(({ key }) => keccak256(stringToHex(key ?? "")));
  expect(updates.map(({ keyHash }) => keyHash).toSorted()).toEqual(hashes.toSorted());
});

test("a chain that stops for ten minutes: meanwhile requests are refused with what is wrong, and afterwards all goes on", async () => {
  let elapsedMs = 0;
  const feedKey = "SPOTPX/FEED-USD";
  const feed = { dataset, keys: [feedKey], heartbeatSeconds: 60, deviationBps: 10_000, minIntervalSeconds: 1 };
  const settings = { feeds: [feed], feedPollMs: 500, maxPendingPerSender: 2, gasPerHourForNewKeys: 30_000_000 };
  const clock = () => Date.now() + elapsedMs;
  const operator = await startOperator([{ chain, datasets: [dataset], providers, settings }], { clock });
  onTestFinished(() => operator.close());
  const request = (key: string, broadcast = true) => ({ network_id: 42, dataset, key, broadcast });
  await expect.poll(() => storedRound(feedKey)).toBeGreaterThan(0);
  await operator.ask(request("SPOTPX/BEFORE-USD"), { prefer: "wait=20" });

  await chain.pauseMining();
  onTestFinished(() => chain.resumeMining());
  // The queue has two places, and nothing leaves it.
  const accepted = [await operator.ask(request("SPOTPX/A-USD")), await operator.ask(request("SPOTPX/B-USD"))];
  for (let i = 0; elapsedMs < TEN_MINUTES_MS; i++) {
    let isOver = false;
    const refused = operator.askForProblem(request(`SPOTPX/M${i}-USD`)).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      elapsedMs += 30_000;
      await chain.client.increaseTime({ seconds: 30 });
      await sleep(300);
    }
    expect(await refused).toMatchObject({ http: 504, code: "rpc_timeout" });
  }
  expect(await operator.ask(request("SPOTPX/A-USD", false))).toHaveProperty("transaction");

  await chain.resumeMining();
  const resumedAt = Math.floor(clock() / 1_000) - 5;
  // They were promised, and their rounds had got too old.
  for (const { key } of accepted) await expect.poll(() => storedRound(key ?? "")).toBeGreaterThan(resumedAt - 300);
  await expect.poll(() => storedRound(feedKey)).toBeGreaterThanOrEqual(resumedAt);
  const after = await operator.ask(request("SPOTPX/AFTER-USD"), { prefer: "wait=20" });
  expect(await storedRound("SPOTPX/AFTER-USD")).toBe(after.timestamp);
});
