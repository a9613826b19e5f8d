// Measures the CPU time that a provider needs to sign one round of a thousand keys, as rows of batches and one by one,
// and compares it with the CPU time of the signatures alone. Every key is read from all exchanges of the devnet's
// simulated market, which runs in another process and does not count. It fails if a round takes more than two seconds.

import { setTimeout as sleep } from "node:timers/promises";
import { deriveAccount } from "@dataset-oracle/devnet/accounts";
import { EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { FastReportDigests } from "@dataset-oracle/protocol/fast-report-digests";
import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { accountFromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import { bytesToHex, type Hex } from "viem";
import { postJson } from "../http-client.js";
import { Processes } from "../processes.js";
import { readCpuSeconds } from "../read-cpu-metric.js";
import { signHash } from "../sign-hash.js";
import { upperMedian } from "../upper-median.js";

const USAGE = `Usage: npm run bench:provider

Measures the CPU time that a provider needs to sign one round of a thousand keys, each read from all simulated
exchanges, and fails if it is more than two seconds.

  --help   show this text

Example
  npm run bench:provider`;

readArguments(USAGE);

const KEYS = 1_000;
const KEYS_IN_ROW = 250;
const ROUNDS = 7;
const WARM_UP = 3;
/** The number of concurrent requests for single keys. */
const CONCURRENCY = 64;
/** The maximum CPU time of a round, in seconds. */
const LIMIT = 2;
const DATASET = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const ACCOUNT = deriveAccount(1);

const processes = new Processes();
try {
  const market = await processes.startMarket(KEYS);
  const { pairs } = market;
  processes.prices = DATASET;
  processes.writeDeployment(pairs.map((pair) => `SPOTPX/${pair}`));
  // Five sources quote USDT-USD, with which the quotes of the other three are converted.
  const sources = { market, minSources: 5 };
  const { metricsUrl, url } = await processes.startProvider(ACCOUNT, "provider", sources);
  const keys = pairs.map(spotPriceKey);
  const rows = Array.from({ length: KEYS / KEYS_IN_ROW }, (_, i) => keys.slice(i * KEYS_IN_ROW, (i + 1) * KEYS_IN_ROW));

  const asRows = await measure(metricsUrl, (timestamp) =>
    Promise.all(rows.map((row) => post(url, "/report/batch", { keys: row, timestamp }, hasAllValues))),
  );
  // On a busy machine, a round shared by all requests would be too old for the last ones.
  const oneByOne = await measure(metricsUrl, () =>
    forEachConcurrently(keys, CONCURRENCY, (key) =>
      post(url, "/report", { key, timestamp: Math.floor(Date.now() / 1_000) }, usesAllSources),
    ),
  );
  const alone = await signAlone(keys, rows);

  console.log(`${KEYS} keys, each read from ${EXCHANGES.length} exchanges: CPU time of the provider for one round,`);
  console.log(`median of ${ROUNDS} rounds (minimum to maximum), compared with signing alone.\n`);
  print(`${rows.length} rows of ${KEYS_IN_ROW} keys`, asRows, alone.rows);
  print(`${KEYS} reports one by one`, oneByOne, alone.reports);
  if ([asRows, oneByOne].some((times) => upperMedian(times) > LIMIT)) {
    console.error(`\nA round takes more than ${LIMIT} s.`);
    process.exitCode = 1;
  }
} finally {
  await processes.close();
}

interface BatchAnswer {
  readonly missing: Hex;
}

interface AnswerWithSources {
  readonly outcome: string;
  readonly sources?: readonly { readonly used: boolean }[];
}

function hasAllValues({ missing }: BatchAnswer) {
  return BigInt(missing) === 0n;
}

function usesAllSources({ outcome, sources }: AnswerWithSources) {
  return outcome === "OK" && sources?.filter(({ used }) => used).length === EXCHANGES.length;
}

async function post<T>(url: string, path: string, body: object, isGood: (answer: T) => boolean) {
  const answer: T = await postJson(`${url}${path}`, { network_id: 42, dataset: DATASET, ...body });
  if (!isGood(answer)) throw new Error(JSON.stringify(answer).slice(0, 500));
}

/** Measures the CPU time of several rounds after a warm-up, in seconds. */
async function measure(metricsUrl: string, askRound: (timestamp: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < WARM_UP + ROUNDS; ++i) {
    // Values are cached for one second only, so each round starts in a new second.
    await sleep(1_500 - (Date.now() % 1_000));
    const before = await readCpuSeconds(metricsUrl);
    await askRound(Math.floor(Date.now() / 1_000));
    if (i >= WARM_UP) times.push((await readCpuSeconds(metricsUrl)) - before);
  }
  return times;
}

/** Measures the CPU time of the same signatures alone. Returns the medians over as many rounds, in seconds. */
async function signAlone(keys: readonly Hex[], rows: readonly (readonly Hex[])[]) {
  const account = accountFromPrivateKey(ACCOUNT.privateKey);
  const digests = new FastReportDigests(42, DATASET, keccak);
  const sign = (digest: Uint8Array) => signHash(account, bytesToHex(digest));
  const round = 1_790_000_000n;
  const value: Hex = `0x${"00".repeat(24)}${"12".repeat(8)}`;
  const time = async (work: () => Promise<void>) => {
    const times: number[] = [];
    for (let i = 0; i < WARM_UP + ROUNDS; ++i) {
      const begin = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(begin);
      if (i >= WARM_UP) times.push((user + system) / 1e6);
    }
    return upperMedian(times);
  };
  return {
    reports: await time(async () => {
      for (const key of keys) await sign(digests.of({ key, round })("OK", value));
    }),
    rows: await time(async () => {
      for (const row of rows) {
        await sign(digests.ofRow({ keys: row, missing: 0n, values: row.map(() => value), round }));
      }
    }),
  };
}

function print(what: string, times: readonly number[], alone: number) {
  const s = (seconds: number) => `${seconds.toFixed(3)} s`;
  const [least, most] = [Math.min(...times), Math.max(...times)].map(s);
  console.log(
    `${what.padEnd(24)} ${s(upperMedian(times))} (${least} to ${most}); signing alone ${s(alone)}: ${(upperMedian(times) / alone).toFixed(1)} times`,
  );
}
