import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { startService } from "@dataset-oracle/devnet/service-process";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { keccak256, stringToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { startCommittee, WAIT } from "./support/committee.js";

/** The drills of an operator: what happens to it once in some years, and what its owner can count on then. */

const TEN_MINUTES_MS = 600_000;

const { chain, providers, dataset, body, start } = await startCommittee(4);

const storedRound = async (key: string) => Number((await chain.query(dataset, key)).updatedAt);

async function pauseMining(): Promise<void> {
  await chain.pauseMining();
  onTestFinished(() => chain.resumeMining());
}

test("replace the operator's machine while transactions are pending: none is lost, and none is sent twice", async () => {
  const privateKey = generatePrivateKey();
  const account = privateKeyToAccount(privateKey);
  await chain.fund(account.address);
  const urls = providers.map(({ address, url }) => ({ address, url }));
  const network = { datasets: [dataset], networkId: 42, rpcUrls: [chain.url], providers: urls };
  const old = await startService({
    ...{ program: "operator", name: "operator", privateKeys: [privateKey] },
    config: { port: await freePort(), metricsPort: 0, networks: [{ ...network, gasPercentPerCaller: 100 }] } as never,
    folder: mkdtempSync(join(tmpdir(), "machine-")),
  });
  onTestFinished(() => old.close());
  await old.ready();
  await pauseMining();
  const broadcast = async (key: string): Promise<DataAnswer> => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body(key)) };
    return (await (await fetch(`${old.url}/data/request`, init)).json()) as DataAnswer;
  };
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => broadcast(`SPOTPX/K${i}-USD`)));
  process.kill(old.pid, "SIGKILL");
  await old.exited;

  // It has the key, and nothing else of the old one.
  const next = await start({}, { account });
  answers.push(await next.ask(body("SPOTPX/LAST-USD")));
  expect(answers.map(({ transaction_hash }) => transaction_hash)).toEqual(
    answers.map(() => expect.stringMatching(/^0x/)),
  );
  await chain.resumeMining();
  for (const { key, timestamp } of answers) {
    await expect.poll(() => storedRound(key ?? "")).toBeGreaterThanOrEqual(timestamp);
  }
  expect(await chain.client.getTransactionCount({ address: account.address })).toBe(answers.length);
  const hashes = answers.map(({ key }) => keccak256(stringToHex(key ?? "")));
  const updated = (await chain.updates(dataset)).map(({ keyHash }) => keyHash);
  expect(updated.toSorted()).toEqual(hashes.toSorted());
  await next.close();
});

test("a chain that stops for ten minutes: meanwhile requests are refused with what is wrong, and afterwards all goes on", async () => {
  let elapsedMs = 0;
  const feedKey = "SPOTPX/FEED-USD";
  const feed = { dataset, keys: [feedKey], heartbeatSeconds: 60, deviationBps: 10_000, minIntervalSeconds: 1 };
  const settings = {
    ...{ feeds: [feed], feedPollMs: 500, maxPendingPerSender: 2, gasPerHourForNewKeys: 30_000_000 },
    ...{ providerTimeoutMs: 3_000, rpcTimeoutMs: 5_000 },
  };
  const clock = clockOf(() => Date.now() + elapsedMs);
  const passHalfMinute = async () => {
    elapsedMs += 30_000;
    await chain.client.increaseTime({ seconds: 30 });
  };
  const operator = await start(settings, { clock });
  await expect.poll(() => storedRound(feedKey)).toBeGreaterThan(0);
  await operator.ask(body("SPOTPX/BEFORE-USD"), WAIT);

  await pauseMining();
  // The queue has two places, and nothing leaves it.
  const accepted = [await operator.ask(body("SPOTPX/A-USD")), await operator.ask(body("SPOTPX/B-USD"))];
  for (let i = 0; elapsedMs < TEN_MINUTES_MS; i++) {
    let isOver = false;
    const refused = operator.askForProblem(body(`SPOTPX/M${i}-USD`)).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await passHalfMinute();
      await sleep(300);
    }
    expect(await refused).toMatchObject({ http: 503, code: "queue_full" });
  }
  expect(await operator.ask(body("SPOTPX/A-USD", false))).toHaveProperty("transaction");

  await chain.resumeMining();
  const resumedAt = Math.floor(clock.now() / 1_000) - 5;
  // They were promised, and their rounds had got too old.
  for (const { key } of accepted) await expect.poll(() => storedRound(key ?? "")).toBeGreaterThan(resumedAt - 300);
  // A feed that failed is tried again within half a minute.
  const feedRound = () => passHalfMinute().then(() => storedRound(feedKey));
  await expect.poll(feedRound, { interval: 4_000 }).toBeGreaterThanOrEqual(resumedAt);
  const after = await operator.ask(body("SPOTPX/AFTER-USD"), WAIT);
  expect(await storedRound("SPOTPX/AFTER-USD")).toBe(after.timestamp);
});
