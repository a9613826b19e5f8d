import { setTimeout as sleep } from "node:timers/promises";
import { stringToHex } from "viem";
import { postJson } from "../load.js";
import { median } from "../median.js";
import { request } from "./cpu-per-request.js";

const SAMPLES = 60;
const BEHIND_MS = 2_000;
/** The pause between requests, so that the providers have finished the previous one. */
const PAUSE_MS = 12;

/** The index of the next key. No key is requested twice in a round. */
let next = 0;

/** Measures the operator's response time, one request at a time, minus that of the slowest provider when asked directly. */
export async function addedLatency(environment) {
  const [direct, served] = [[], []];
  for (let i = 0; i < SAMPLES; i++) {
    direct.push(await slowestOf(environment, nextKey(environment)));
    const asked = request(environment, nextKey(environment));
    await sleep(PAUSE_MS);
    served.push(await timeOf(() => postJson(environment.operator.requestUrl, asked)));
    await sleep(PAUSE_MS);
  }
  const [own, all] = [median(direct), median(served)];
  return { ratio: all - own, note: `${all.toFixed(2)} ms; the slowest provider ${own.toFixed(2)} ms` };
}

const nextKey = ({ keys }) => keys[next++ % keys.length];

async function slowestOf({ dataset, providers }, key) {
  const timestamp = Math.floor((Date.now() - BEHIND_MS) / 1_000);
  const asked = { network_id: 42, dataset, key: stringToHex(key), timestamp };
  const times = providers.map(({ url }) => timeOf(() => postJson(`${url}/report`, asked)));
  return Math.max(...(await Promise.all(times)));
}

async function timeOf(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
