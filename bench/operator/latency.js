import { setTimeout as sleep } from "node:timers/promises";
import { stringToHex } from "viem";
import { request } from "./cpu.js";
import { median, postJson } from "./load.js";

const SAMPLES = 60;
const BEHIND_MS = 2_000;
/** Between two requests: the providers are done with the one before. */
const PAUSE_MS = 12;

/** The place of the next key. None is asked for twice in a round. */
let next = 0;

/** One request at a time: the operator's answer time over that of the slowest provider, all asked at once, directly. */
export async function addedLatency(stage) {
  const [direct, served] = [[], []];
  for (let i = 0; i < SAMPLES; i++) {
    direct.push(await slowestOf(stage, nextKey(stage)));
    const asked = request(stage, nextKey(stage));
    await sleep(PAUSE_MS);
    served.push(await timeOf(() => postJson(stage.operator.requestUrl, asked)));
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
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
