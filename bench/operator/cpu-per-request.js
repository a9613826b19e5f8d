import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import { dataRequestBody } from "../data-request-body.js";
import { postText } from "../http-client.js";
import { readCpuSeconds } from "../read-cpu-seconds.js";

const SAME_REQUESTS = 8_000;
const DISTINCT_REQUESTS = 600;
const AT_ONCE = 32;
/** The number of requests that the providers can answer concurrently without long queues. */
const DISTINCT_AT_ONCE = 8;

/** Requests one key many times: the CPU time of a Fastify server with a fixed answer, divided by the operator's. */
export async function measureSameKey(environment, fixedAnswer) {
  const body = JSON.stringify(dataRequestBody(environment, environment.keys[0]));
  const ask = (url) => postText(url, body);
  const fastifyTime = await cpuPerRequest(fixedAnswer, SAME_REQUESTS, AT_ONCE, ask);
  const operatorTime = await cpuPerRequest(environment.operator, SAME_REQUESTS, AT_ONCE, ask);
  return { ratio: fastifyTime / operatorTime, note: `${us(operatorTime)}; bare Fastify ${us(fastifyTime)}` };
}

/** Requests different keys: the operator's CPU time, divided by that of the naive implementation. */
export async function measureDistinctKeys(environment) {
  const ask = (url, i) =>
    postText(url, JSON.stringify(dataRequestBody(environment, environment.keys[i % environment.keys.length])));
  const naiveTime = await cpuPerRequest(environment.naive, DISTINCT_REQUESTS, DISTINCT_AT_ONCE, ask);
  const operatorTime = await cpuPerRequest(environment.operator, DISTINCT_REQUESTS, DISTINCT_AT_ONCE, ask);
  return { ratio: operatorTime / naiveTime, note: `${us(operatorTime)}; naive implementation ${us(naiveTime)}` };
}

/** Returns the process's CPU time per request, in seconds. */
async function cpuPerRequest({ requestUrl, metricsUrl }, requests, atOnce, ask) {
  const before = await readCpuSeconds(metricsUrl);
  let failed = 0;
  await forEachConcurrently(Array(requests).keys(), atOnce, (i) =>
    ask(requestUrl, i).catch((error) => {
      // On a busy machine, a few requests to the providers' sources may time out.
      if (++failed > requests / 100) throw error;
    }),
  );
  return ((await readCpuSeconds(metricsUrl)) - before) / requests;
}

const us = (seconds) => `${Math.round(seconds * 1e6)} µs per request`;
