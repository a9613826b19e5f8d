import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { ReportRequest } from "@dataset-oracle/protocol/http-schemas/reports";
import type { Hex } from "viem";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { coinbaseTicker, OTHER_SOURCES, startFakeExchanges } from "./support/fake-exchanges.js";
import { spawnProvider, untilListening, untilReady, writeConfig } from "./support/provider-process.js";
import { DATASET, PRIVATE_KEY } from "./support/test-provider.js";

/** `npm run crash` runs the long form, by `--mode long`; `CRASH_TIMES` changes the number of kills. */
const TIMES = Number(process.env.CRASH_TIMES ?? (process.env.MODE === "long" ? 200 : 2));
/** The number of concurrent requests. */
const WORKERS = 12;
/** The longest time that a process is under load after its first answer, in milliseconds. */
const LONGEST_LIFE = 2_000;
const PAIRS = ["ETH-USD", "BTC-USD", "SOL-USD", "LINK-USD", "LTC-USD", "XRP-USD", "ADA-USD", "AVAX-USD"];
const KEYS = PAIRS.map(spotPriceKey);

/** The value of each data point at each round, as it was told first. */
const told = new Map<string, string>();

const exchanges = await startFakeExchanges();
afterAll(() => exchanges.close());
// Another price each time reveals a decision that was forgotten.
let price = 0;
exchanges.behave("coinbase", (response) => {
  const ticker = coinbaseTicker(String(++price), Math.floor(Date.now() / 1_000));
  const answer = () => response.writeHead(200, { "content-type": "application/json" }).end(ticker);
  setTimeout(answer, Math.random() * 10);
});
const { config } = writeConfig(
  {
    redirectedOrigins: { "https://api.exchange.coinbase.com": `${exchanges.url}/coinbase` },
    excludedSources: [...OTHER_SOURCES, "kraken", "bitstamp"],
    minSources: 1,
    // All questions of a life are asked again at once.
    requestsPerMinute: 10_000_000,
    anonymousRequestsPerMinute: 10_000_000,
    maxConnections: 10_000,
    maxConnectionsPerCaller: 10_000,
  },
  42,
  PAIRS.map((pair) => `SPOTPX/${pair}`),
);

/** Returns one of few possible questions, so that many ask for the same data points. */
const anyQuestion = (): ReportRequest => ({
  network_id: 42,
  dataset: DATASET,
  key: KEYS[Math.floor(Math.random() * KEYS.length)] as Hex,
  timestamp: Math.floor(Date.now() / 1_000) - Math.floor(Math.random() * 4),
});

/** Returns false when the round is too old, or may have been signed before. */
async function ask(url: string, question: ReportRequest): Promise<boolean> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/report`, { method: "POST", headers, body: JSON.stringify(question) });
  const { code, outcome, value } = (await response.json()) as Record<string, string>;
  // It listens before it takes its lease.
  if (code === "not_ready") return sleep(20).then(() => ask(url, question));
  if (response.status !== 200) {
    expect(code).toMatch(/round_too_old|round_forgotten/);
    return false;
  }
  const id = `${question.key} at ${question.timestamp}`;
  const answer = `${outcome} ${value}`;
  expect(`${id}: ${answer}`).toBe(`${id}: ${told.get(id) ?? answer}`);
  told.set(id, answer);
  return true;
}

/** Keeps one request per worker in flight until the provider is killed at a random moment. Returns what was asked. */
async function killUnderLoad(provider: ReturnType<typeof spawnProvider>, url: string): Promise<ReportRequest[]> {
  const asked: ReportRequest[] = [];
  let isAlive = true;
  const answers = new EventTarget();
  const firstAnswer = once(answers, "answer");
  const workers = Array.from({ length: WORKERS }, async () => {
    while (isAlive) {
      const question = anyQuestion();
      asked.push(question);
      const isAnswered = await ask(url, question).catch((error: unknown) => {
        if (isAlive) throw error;
        return false;
      });
      if (isAnswered) answers.dispatchEvent(new Event("answer"));
    }
  });
  const load = Promise.all(workers);
  // At the first answer, the answers that were decided together with it are still being sent.
  const life = Math.random() < 0.25 ? 0 : Math.random() * LONGEST_LIFE;
  await Promise.race([firstAnswer.then(() => sleep(life)), load]);
  isAlive = false;
  provider.child.kill("SIGKILL");
  await Promise.all([load, provider.closed]);
  return asked;
}

test(
  `a provider that is killed ${TIMES} times never signs two different values for one round`,
  async () => {
    let asked: readonly ReportRequest[] = [];
    for (let life = 0; life <= TIMES; life++) {
      const provider = spawnProvider(["serve", "--config", config], { PROVIDER_PRIVATE_KEY: PRIVATE_KEY });
      onTestFinished(() => void provider.child.kill("SIGKILL"));
      const url = await untilListening(provider);
      const again = await Promise.all(asked.map((question) => ask(url, question)));
      if (life > 0) expect(again).toContain(false);
      if (life === TIMES) break;
      await untilReady(url);
      asked = await killUnderLoad(provider, url);
    }
    const values = new Set(told.values()).size;
    console.log(`${TIMES} kills; ${told.size} data points with ${values} different values were told.`);
    // Each life reads other prices.
    expect(values).toBeGreaterThanOrEqual(TIMES);
  },
  300_000 + TIMES * 30_000,
);
