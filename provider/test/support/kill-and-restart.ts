import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { SignedBatchReport, SignedReport } from "@dataset-oracle/protocol/http-schemas/reports";
import type { Hex } from "viem";
import { coinbaseTicker, type FakeExchanges, OTHER_SOURCES, startFakeExchanges } from "./fake-exchanges.js";
import { type ProviderProcess, spawnProvider, untilListening, untilReady, writeConfig } from "./provider-process.js";
import { DATASET, PRIVATE_KEY } from "./test-provider.js";

/** The number of concurrent requests, one per worker. */
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

/** The result of killing a provider again and again. */
export interface KillTally {
  kills: number;
  /** The fewest requests that were in flight at a kill. */
  leastInFlight: number;
  answers: number;
  /** The value of each data point at each round; `missing` for "no data". */
  readonly told: Map<string, string>;
  /** Questions of a life that were asked again in the next, and refused because they may have been signed before. */
  refusedAgain: number;
}

/**
 * Kills a provider's process at random moments under load, starts it again, and asks for the same rounds. Its sources
 * answer a different price each time, which reveals a decision that was forgotten.
 *
 * @throws At the first answer that contradicts an earlier answer for the same data point and round.
 */
export async function killAndRestart(times: number, onKill: (tally: KillTally) => void): Promise<KillTally> {
  const exchanges = await startFakeExchanges();
  quoteAnotherPriceEachTime(exchanges);
  // All questions of a life are asked again at once.
  const limits = {
    requestsPerMinute: 10_000_000,
    anonymousRequestsPerMinute: 10_000_000,
    maxConnections: 10_000,
    maxConnectionsPerCaller: 10_000,
  };
  const { config } = writeConfig(
    {
      redirectedOrigins: { "https://api.exchange.coinbase.com": `${exchanges.url}/coinbase` },
      excludedSources: [...OTHER_SOURCES, "kraken", "bitstamp"],
      minSources: 1,
      ...limits,
    },
    42,
    PAIRS.map((pair) => `SPOTPX/${pair}`),
  );
  const tally: KillTally = { kills: 0, leastInFlight: WORKERS, answers: 0, told: new Map(), refusedAgain: 0 };
  let provider: ProviderProcess | undefined;
  try {
    let asked: readonly Question[] = [];
    while (tally.kills <= times) {
      provider = spawnProvider(["serve", "--config", config], { PROVIDER_PRIVATE_KEY: PRIVATE_KEY });
      const url = await untilListening(provider);
      const again = await Promise.all(asked.map((question) => ask(url, question, tally)));
      tally.refusedAgain += again.filter((isAnswered) => !isAnswered).length;
      if (tally.kills === times) break;
      // Every life is silent at first about what the former one may have signed.
      await untilReady(url);
      asked = await killUnderLoad(provider, url, tally);
      tally.kills += 1;
      onKill(tally);
    }
    return tally;
  } finally {
    provider?.child.kill("SIGKILL");
    await provider?.closed;
    await exchanges.close();
  }
}

function quoteAnotherPriceEachTime(exchanges: FakeExchanges): void {
  let price = 0;
  exchanges.behave("coinbase", (response) => {
    const ticker = coinbaseTicker(String(++price), Math.floor(Date.now() / 1_000));
    const answer = () => response.writeHead(200, { "content-type": "application/json" }).end(ticker);
    setTimeout(answer, Math.random() * 10);
  });
}

/** Keeps one request per worker in flight until the provider is killed. Returns what was asked. */
async function killUnderLoad(provider: ProviderProcess, url: string, tally: KillTally): Promise<Question[]> {
  const asked: Question[] = [];
  let inFlight = 0;
  let isAlive = true;
  const answers = new EventTarget();
  const firstAnswer = once(answers, "answer");
  const workers = Array.from({ length: WORKERS }, async () => {
    while (isAlive) {
      const question = anyQuestion();
      asked.push(question);
      inFlight += 1;
      const isAnswered = await ask(url, question, tally).catch((error: unknown) => {
        if (isAlive) throw error;
        return false;
      });
      inFlight -= 1;
      if (isAnswered) answers.dispatchEvent(new Event("answer"));
    }
  });
  const load = Promise.all(workers);
  // At the first answer, the answers that were decided together with it are still being sent.
  const moment = Math.random() < 0.25 ? firstAnswer : firstAnswer.then(() => sleep(Math.random() * LONGEST_LIFE));
  await Promise.race([moment, load]);
  tally.leastInFlight = Math.min(tally.leastInFlight, inFlight);
  isAlive = false;
  provider.child.kill("SIGKILL");
  await Promise.all([load, provider.closed]);
  return asked;
}

/** Returns one of few possible questions, so that many ask for the same data points. */
function anyQuestion(): Question {
  const timestamp = Math.floor(Date.now() / 1_000) - Math.floor(Math.random() * 4);
  const keys = KEYS.toSorted(() => Math.random() - 0.5);
  return { keys: keys.slice(0, Math.random() < 0.5 ? 1 : 2 + Math.floor(Math.random() * 3)), timestamp };
}

/** Returns false when the round is too old, or may have been signed before. */
async function ask(url: string, { keys, timestamp }: Question, tally: KillTally): Promise<boolean> {
  const [path, named] = keys.length === 1 ? ["/report", { key: keys[0] }] : ["/report/batch", { keys }];
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ network_id: 42, dataset: DATASET, timestamp, ...named }),
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (response.status !== 200) {
    if (/round_too_old|round_forgotten/.test(text)) return false;
    throw new Error(`The provider answers ${response.status}: ${text}`);
  }
  tally.answers += 1;
  for (const [i, value] of valuesIn(JSON.parse(text)).entries()) {
    const id = `${keys[i]} at ${timestamp}`;
    const before = tally.told.get(id);
    if (before !== undefined && before !== value) throw new Error(`Two values of ${id}: ${before} and ${value}`);
    tally.told.set(id, value);
  }
  return true;
}

function valuesIn(answer: SignedReport | SignedBatchReport): string[] {
  if ("outcome" in answer) return [answer.outcome === "OK" ? answer.value : "missing"];
  return answer.values.map((value, i) => (((BigInt(answer.missing) >> BigInt(i)) & 1n) === 1n ? "missing" : value));
}
