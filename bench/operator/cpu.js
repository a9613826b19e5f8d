import { cpuTime } from "../cpu-time.js";
import { postText, repeat } from "./load.js";

const SAME_REQUESTS = 8_000;
const DISTINCT_REQUESTS = 600;
const AT_ONCE = 32;
/** As many as the providers answer at once without queueing for long. */
const DISTINCT_AT_ONCE = 8;

/** Many ask for the same key: how much of the operator's CPU time a bare server would have needed. */
export async function sameKey(stage, bare) {
  const body = JSON.stringify(request(stage, stage.keys[0]));
  const ask = (url) => postText(url, body);
  const bareTime = await cpuPerRequest(bare, SAME_REQUESTS, AT_ONCE, ask);
  const operatorTime = await cpuPerRequest(stage.operator, SAME_REQUESTS, AT_ONCE, ask);
  return { ratio: bareTime / operatorTime, note: `${us(operatorTime)}; bare ${us(bareTime)}` };
}

/** Each asks for another key: the operator's CPU time, in parts of what the plain way needs. */
export async function distinctKeys(stage) {
  const ask = (url, i) => postText(url, JSON.stringify(request(stage, stage.keys[i % stage.keys.length])));
  const plainTime = await cpuPerRequest(stage.plain, DISTINCT_REQUESTS, DISTINCT_AT_ONCE, ask);
  const operatorTime = await cpuPerRequest(stage.operator, DISTINCT_REQUESTS, DISTINCT_AT_ONCE, ask);
  return { ratio: operatorTime / plainTime, note: `${us(operatorTime)}; the plain way ${us(plainTime)}` };
}

export function request({ dataset }, key, broadcast = false) {
  return { network_id: 42, dataset, key, broadcast };
}

/** @returns Seconds of the process's CPU time for each request. */
async function cpuPerRequest({ requestUrl, metricsUrl }, requests, atOnce, ask) {
  const before = await cpuTime(metricsUrl);
  let failed = 0;
  await repeat(requests, atOnce, (i) =>
    ask(requestUrl, i).catch((error) => {
      // A machine that is busy can be too slow for the providers' sources.
      if (++failed > requests / 100) throw error;
    }),
  );
  return ((await cpuTime(metricsUrl)) - before) / requests;
}

const us = (seconds) => `${Math.round(seconds * 1e6)} µs a request`;
