// Measures what keeping feeds fresh costs the operator: CPU time and memory, by the number of keys and of members.

import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { deriveAccount, OWNER } from "@dataset-oracle/devnet/accounts";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { encodeUpdateBatch, type SignedRow } from "@dataset-oracle/protocol/encode-update";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { encodeFunctionData, type Hex, stringToHex } from "viem";
import { postJson } from "./http-client.js";
import { type BenchNetwork, Processes, type Server } from "./processes.js";

const HEARTBEAT_SECONDS = 60;
/** An older feed means that the work was not done. */
const MAX_AGE_SECONDS = HEARTBEAT_SECONDS + 10;
/** With the most keys and members. */
const MAX_CORES = 0.25;
const MAX_MEGABYTES = 300;
interface FeedLoad {
  readonly keys: number;
  readonly members: number;
}

const CASES: readonly FeedLoad[] = [4, 31].flatMap((members) => [10, 100, 1_000].map((keys) => ({ keys, members })));
const LARGEST = { keys: 1_000, members: 31 };
const SAMPLE_MS = 5_000;
/** As the operator's. */
const MAX_BATCH_KEYS = 100;
/** How long an operator has run when it is measured: each key has been updated by then. */
const WARM_UP_MS = HEARTBEAT_SECONDS * 1_000;

const USAGE = `Usage: npm run bench:feeds [-- --seconds N --only KEYSxMEMBERS]

Has an operator keep 10, 100 and 1,000 keys fresh, with committees of 4 and 31 members: the heartbeat is ${HEARTBEAT_SECONDS} s, and
the deviation is checked at every poll. The chain is real, and one process stands in for all providers. It prints the
operator's CPU time as a share of one core, and the most memory that it used. It exits with 1 if ${LARGEST.keys} keys with
${LARGEST.members} members take more than ${MAX_CORES} of a core or ${MAX_MEGABYTES} MB, or if a feed grows older than ${MAX_AGE_SECONDS} s.

  --seconds N           how long each case is measured, in seconds, from 10 (default: 120)
  --only KEYSxMEMBERS   one case: ${CASES.map(nameOf).join(", ")}
  --help                show this text

Examples
  npm run bench:feeds
  npm run bench:feeds -- --only 1000x31 --seconds 300`;

const { values } = readArguments(USAGE, {
  seconds: { type: "string", default: "120", range: [10, 3_600] },
  only: { type: "string" },
});
const cases = CASES.filter((one) => values.only === undefined || values.only === nameOf(one));
if (cases.length === 0) {
  console.error(`There is no case ${values.only}. Choose one that --only lists.\n\n${USAGE}`);
  process.exit(2);
}

console.log(`The machine's load was ${loadavg()[0]?.toFixed(1)} before.\n`);
console.log("| keys | members | share of a core | memory, MB | oldest feed, s |\n|---|---|---|---|---|");
for (const one of cases) {
  const running = new Processes();
  try {
    const { cores, megabytes, oldest } = await measure(running, one);
    console.log(
      `| ${one.keys} | ${one.members} | ${cores.toFixed(3)} | ${megabytes.toFixed(0)} | ${oldest.toFixed(1)} |`,
    );
    if (nameOf(one) === nameOf(LARGEST) && cores > MAX_CORES)
      miss(`${nameOf(one)} takes more than ${MAX_CORES} of a core.`);
    if (nameOf(one) === nameOf(LARGEST) && megabytes > MAX_MEGABYTES)
      miss(`${nameOf(one)} takes more than ${MAX_MEGABYTES} MB.`);
    if (oldest > MAX_AGE_SECONDS) miss(`${nameOf(one)}: a feed grew older than ${MAX_AGE_SECONDS} s.`);
  } finally {
    await running.close();
  }
}

function nameOf({ keys, members }: FeedLoad) {
  return `${keys}x${members}`;
}

function miss(sentence: string) {
  console.error(sentence);
  process.exitCode = 1;
}

/**
 * Stores all keys, as any relayer may: announces them, and stores them in batches. An operator stores each in a transaction
 * of its own first, which is not measured here.
 */
async function storeAll({ client, dataset, keys, providers }: BenchNetwork) {
  const hex = keys.map((key) => stringToHex(key));
  let hash: Hex | undefined;
  const send = async (data: Hex) => {
    const gas = await client.estimateGas({ account: OWNER.address, to: dataset, data });
    hash = await client.sendTransaction({ account: OWNER.address, to: dataset, data, gas });
  };
  const wait = async () => {
    if (hash === undefined) return;
    const { status } = await client.waitForTransactionReceipt({ hash, timeout: 60_000 });
    if (status !== "success") throw new Error("The keys are not stored.");
  };
  for (const key of hex) await send(encodeFunctionData({ abi: datasetAbi, functionName: "announce", args: [key] }));
  // The estimate of a batch whose keys are unknown is too low.
  await wait();
  const committee = { toleranceBps: 100n, members: providers.map(({ address }) => address) };
  const timestamp = Math.floor(Date.now() / 1_000) - 2;
  for (let from = 0; from < hex.length; from += MAX_BATCH_KEYS) {
    const batch = hex.slice(from, from + MAX_BATCH_KEYS);
    const asked = { network_id: client.chain.id, dataset, keys: batch, timestamp };
    const signed = await Promise.all(providers.map(({ url }) => postJson(`${url}/report/batch`, asked)));
    const rows = signed.map((row: Omit<SignedRow, "missing"> & { missing: Hex }) => ({
      ...row,
      missing: BigInt(row.missing),
    }));
    const packed = encodeUpdateBatch("median", { keys: batch, round: BigInt(timestamp) }, committee, rows);
    await send(encodeUpdateCall(packed));
  }
  await wait();
}

/** Starts everything for one case, and measures an operator that keeps keys fresh that are stored already. */
async function measure(processes: Processes, { keys: count, members }: FeedLoad) {
  const network = await processes.startStubbedNetwork({ keys: count, members });
  await storeAll(network);
  const { dataset, keys } = network;
  const feeds = [{ dataset, keys, heartbeatSeconds: HEARTBEAT_SECONDS, deviationBps: 50, minIntervalSeconds: 1 }];
  const operator = await processes.startOperator(network, [deriveAccount(1)], { feeds });
  await sleep(WARM_UP_MS);
  const [before, from] = [await readMetrics(operator), performance.now()];
  const all = [before];
  let last = before;
  while (performance.now() - from < Number(values.seconds) * 1_000) {
    await sleep(SAMPLE_MS);
    last = await readMetrics(operator);
    all.push(last);
  }
  const missing = count - last.ages.length;
  if (missing > 0) throw new Error(`${nameOf({ keys: count, members })}: ${missing} keys are not stored.`);
  return {
    cores: (last.cpuSeconds - before.cpuSeconds) / ((performance.now() - from) / 1_000),
    megabytes: Math.max(...all.map(({ bytes }) => bytes)) / 1e6,
    oldest: Math.max(...all.flatMap(({ ages }) => ages)),
  };
}

/** Reads what an operator says of itself: CPU seconds since its start, resident bytes, and the ages of its feeds. */
async function readMetrics({ metricsUrl }: Server) {
  const text = await (await fetch(metricsUrl)).text();
  const all = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "gm"))].map(([, value]) => Number(value));
  const [[cpuSeconds = 0], [bytes = 0]] = [all("process_cpu_seconds_total"), all("process_resident_memory_bytes")];
  return { cpuSeconds, bytes, ages: all("operator_feed_age_seconds") };
}
