import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { keyToAscii, parseKey } from "@dataset-oracle/protocol/dataset-key";
import type { SignedBatchReport, SignedReport } from "@dataset-oracle/protocol/http-schemas/reports";
import type { Hex } from "viem";
import { coinbaseTicker, type FakeExchanges, OTHER_SOURCES, startFakeExchanges } from "./fake-exchanges.js";
import { type ProviderProcess, spawnProvider, untilListening, untilReady, writeConfig } from "./provider-process.js";
import { DATASET, PRIVATE_KEY, withoutSources } from "./test-provider.js";

/** The number of concurrent requests, one per worker. */
const WORKERS = 12;

/** The longest time that a process is under load after its first answer, in milliseconds. */
const LONGEST_LIFE = 2_000;

const PAIRS = ["ETH-USD", "BTC-USD", "SOL-USD", "LINK-USD", "LTC-USD", "XRP-USD", "ADA-USD", "AVAX-USD"];
const KEYS = PAIRS.map((pair) => (parseKey(`SPOTPX/${pair}`) as { value: Hex }).value);

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
  /** The number of different values in the answers. */
  values: number;
  /** Questions of a life that were asked again in the next, and refused because they may have been signed before. */
  refusedAgain: number;
}

/**
 * Kills a provider's process at random moments under load, starts it again, and asks for the same rounds. Its sources
 * answer a different price each time, which reveals a decision that was forgotten.
 *
 * @throws At the first answer that contradicts an earlier answer or decision for the same data point and round.
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
  const witness = new Witness();
  const tally: KillTally = {
    kills: 0,
    leastInFlight: WORKERS,
    answers: 0,
    values: 0,
    refusedAgain: 0,
  };
  let provider: ProviderProcess | undefined;
  try {
    let asked: readonly Question[] = [];
    while (tally.kills <= times) {
      provider = spawnProvider(["serve", "--config", config], { PROVIDER_PRIVATE_KEY: PRIVATE_KEY });
      const url = await untilListening(provider);
      tally.refusedAgain += await askAll(url, asked, witness);
      if (tally.kills === times) break;
      // Every life is silent at first about what the former one may have signed.
      await untilReady(url);
      const life = await killUnderLoad(provider, url, witness);
      asked = life.asked;
      tally.kills += 1;
      tally.leastInFlight = Math.min(tally.leastInFlight, life.inFlight);
      tally.answers = witness.answers;
      tally.values = new Set(witness.told.values()).size;
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

/** Records all answers, and throws when two of them contradict each other. */
class Witness {
  answers = 0;
  /** The value of a data point at a round; `missing` for "no data". */
  readonly told = new Map<string, string>();
  /** Answers without their sources, by question. */
  readonly #answers = new Map<string, string>();

  record(question: Question, text: string): void {
    this.answers += 1;
    const before = this.#answers.get(idOf(question));
    if (before !== undefined && before !== text) throw new Error(`Two answers to one question: ${before} and ${text}`);
    this.#answers.set(idOf(question), text);
    const values = valuesIn(JSON.parse(text));
    question.keys.forEach((key, i) => {
      this.#compare(question.timestamp, key, values[i] as string);
    });
  }

  #compare(round: number, key: Hex, value: string): void {
    const before = this.told.get(`${round}/${key}`);
    if (before !== undefined && before !== value) {
      throw new Error(`Two values of ${keyToAscii(key)} at ${round}: ${before} and ${value}`);
    }
    this.told.set(`${round}/${key}`, value);
  }
}

const idOf = ({ keys, timestamp }: Question) => `${timestamp} ${keys.join(" ")}`;

function valuesIn(answer: SignedReport | SignedBatchReport): string[] {
  if ("outcome" in answer) return [answer.outcome === "OK" ? answer.value : "missing"];
  return answer.values.map((value, i) => (((BigInt(answer.missing) >> BigInt(i)) & 1n) === 1n ? "missing" : value));
}

/** Keeps one request per worker in flight, until the provider is killed. */
async function killUnderLoad(provider: ProviderProcess, url: string, witness: Witness) {
  const asked: Question[] = [];
  let inFlight = 0;
  let isAlive = true;
  const answers = new EventEmitter();
  const firstAnswer = once(answers, "answer");
  const workers = Array.from({ length: WORKERS }, async () => {
    while (isAlive) {
      const question = anyQuestion();
      asked.push(question);
      inFlight += 1;
      const text = await ask(url, question).catch((error: unknown) => {
        if (isAlive) throw error;
        return null;
      });
      inFlight -= 1;
      if (text === null) continue;
      witness.record(question, text);
      answers.emit("answer");
    }
  });
  const load = Promise.all(workers);
  // At the first answer, the answers that were decided together with it are still being sent.
  const moment = Math.random() < 0.25 ? firstAnswer : firstAnswer.then(() => sleep(Math.random() * LONGEST_LIFE));
  await Promise.race([moment, load]);
  const atKill = inFlight;
  isAlive = false;
  provider.child.kill("SIGKILL");
  await Promise.all([load, provider.closed]);
  return { asked, inFlight: atKill };
}

/** Returns one of few possible questions, so that many ask for the same data points. */
function anyQuestion(): Question {
  const timestamp = Math.floor(Date.now() / 1_000) - Math.floor(Math.random() * 4);
  const keys = KEYS.toSorted(() => Math.random() - 0.5);
  return { keys: keys.slice(0, Math.random() < 0.5 ? 1 : 2 + Math.floor(Math.random() * 3)), timestamp };
}

/** Asks questions of a former life again. Returns how many were refused. */
async function askAll(url: string, questions: readonly Question[], witness: Witness): Promise<number> {
  let refused = 0;
  await Promise.all(
    questions.map(async (question) => {
      const text = await ask(url, question);
      if (text === null) refused += 1;
      else witness.record(question, text);
    }),
  );
  return refused;
}

/** Returns the answer without its sources, or null when the round is too old, or may have been signed before. */
async function ask(url: string, { keys, timestamp }: Question): Promise<string | null> {
  const [path, named] = keys.length === 1 ? ["/report", { key: keys[0] }] : ["/report/batch", { keys }];
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ network_id: 42, dataset: DATASET, timestamp, ...named }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (response.status === 200) return withoutSources(text);
  if (/round_too_old|round_forgotten/.test(text)) return null;
  throw new Error(`The provider answers ${response.status}: ${text}`);
}
