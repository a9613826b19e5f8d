import { setTimeout as sleep } from "node:timers/promises";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { SignedBatchReport, SignedReport } from "@dataset-oracle/protocol/http-schemas/reports";
import type { Hex } from "viem";
import { afterAll, expect, it, onTestFinished } from "vitest";
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

/** A request: one key for a report, several for a row of a batch. */
interface Question {
  readonly keys: readonly Hex[];
  readonly timestamp: number;
}

/** The value of each data point at each round, as it was told first; `missing` for "no data". */
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
function anyQuestion(): Question {
  const timestamp = Math.floor(Date.now() / 1_000) - Math.floor(Math.random() * 4);
  const keys = KEYS.toSorted(() => Math.random() - 0.5);
  return { keys: keys.slice(0, Math.random() < 0.5 ? 1 : 2 + Math.floor(Math.random() * 3)), timestamp };
}

/** Returns false when the round is too old, or may have been signed before. */
async function ask(url: string, { keys, timestamp }: Question): Promise<boolean> {
  const [path, named] = keys.length === 1 ? ["/report", { key: keys[0] }] : ["/report/batch", { keys }];
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ network_id: 42, dataset: DATASET, timestamp, ...named }),
  });
  const text = await response.text();
  if (response.status !== 200) {
    expect(text).toMatch(/round_too_old|round_forgotten/);
    return false;
  }
  for (const [i, value] of valuesIn(JSON.parse(text)).entries()) {
    const id = `${keys[i]} at ${timestamp}`;
    expect(`${id}: ${value}`).toBe(`${id}: ${told.get(id) ?? value}`);
    told.set(id, value);
  }
  return true;
}

function valuesIn(answer: SignedReport | SignedBatchReport): string[] {
  if ("outcome" in answer) return [answer.outcome === "OK" ? answer.value : "missing"];
  return answer.values.map((value, i) => (((BigInt(answer.missing) >> BigInt(i)) & 1n) === 1n ? "missing" : value));
}

/** Keeps one request per worker in flight until the provider is killed at a random moment. Returns what was asked. */
async function killUnderLoad(provider: ReturnType<typeof spawnProvider>, url: string): Promise<Question[]> {
  const asked: Question[] = [];
  let isAlive = true;
  const firstAnswer = Promise.withResolvers<void>();
  const workers = Array.from({ length: WORKERS }, async () => {
    while (isAlive) {
      const question = anyQuestion();
      asked.push(question);
      const isAnswered = await ask(url, question).catch((error: unknown) => {
        if (isAlive) throw error;
        return false;
      });
      if (isAnswered) firstAnswer.resolve();
    }
  });
  const load = Promise.all(workers);
  // At the first answer, the answers that were decided together with it are still being sent.
  const life = Math.random() < 0.25 ? 0 : Math.random() * LONGEST_LIFE;
  await Promise.race([firstAnswer.promise.then(() => sleep(life)), load]);
  isAlive = false;
  provider.child.kill("SIGKILL");
  await Promise.all([load, provider.closed]);
  return asked;
}

it(
  `a provider that is killed ${TIMES} times never signs two different values for one round`,
  async () => {
    let asked: readonly Question[] = [];
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
    expect(values).toBeGreaterThan(TIMES);
  },
  60_000 + TIMES * 30_000,
);
