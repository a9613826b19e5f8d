import { forEachConcurrently } from "@dataset-oracle/tools/for-each-concurrently";
import { dataRequestBody } from "../data-request-body.js";
import { postText } from "../http-client.js";
import type { Environment, Server } from "../processes.js";
import { readCpuSeconds } from "../read-cpu-metric.js";
import type { Measurement } from "./measurement.js";

/**
 * The parts of a measurement. The baseline and the operator take turns, because the CPU time of the same work varies by
 * half with what else the machine does.
 */
const TURNS = 4;
const SAME_REQUESTS = 2_000;
const DISTINCT_REQUESTS = 150;
const AT_ONCE = 32;
/** The number of requests that the providers can answer concurrently without long queues. */
const DISTINCT_AT_ONCE = 8;

/** Requests one key many times: the CPU time of a Fastify server with a fixed answer, divided by the operator's. */
export async function measureSameKey(environment: Environment, fixedAnswer: Server): Promise<Measurement> {
  const body = JSON.stringify(dataRequestBody(environment, environment.keys[0] as string));
  const ask = (url: string) => postText(url, body);
  const [fastify = 0, operator = 0] = await cpuPerRequest(
    [fixedAnswer, environment.operator],
    SAME_REQUESTS,
    AT_ONCE,
    ask,
  );
  return { ratio: fastify / operator, note: `${us(operator)}; bare Fastify ${us(fastify)}` };
}

/** Requests different keys: the operator's CPU time, divided by that of the naive implementation. */
export async function measureDistinctKeys(environment: Environment): Promise<Measurement> {
  const { keys, naive, operator } = environment;
  const ask = (url: string, i: number) =>
    postText(url, JSON.stringify(dataRequestBody(environment, keys[i % keys.length] as string)));
  const [naiveTime = 0, operatorTime = 0] = await cpuPerRequest(
    [naive, operator],
    DISTINCT_REQUESTS,
    DISTINCT_AT_ONCE,
    ask,
  );
  return { ratio: operatorTime / naiveTime, note: `${us(operatorTime)}; naive implementation ${us(naiveTime)}` };
}

/**
 * Sends requests to each server in turns.
 *
 * @param requests The number of requests of one turn.
 * @param ask Sends one request to a URL; the second argument counts the requests to each server.
 * @returns The CPU time of each server's process per request, in seconds.
 */
async function cpuPerRequest(
  servers: readonly Server[],
  requests: number,
  atOnce: number,
  ask: (url: string, index: number) => Promise<unknown>,
): Promise<number[]> {
  const total = servers.map(() => 0);
  let failed = 0;
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [server, { requestUrl, metricsUrl }] of servers.entries()) {
      const before = await readCpuSeconds(metricsUrl);
      await forEachConcurrently(Array(requests).keys(), atOnce, (i) =>
        ask(requestUrl, turn * requests + i).catch((error) => {
          // On a busy machine, a few requests to the providers' sources may time out.
          if (++failed > (requests * TURNS) / 100) throw error;
        }),
      );
      total[server] = (total[server] ?? 0) + (await readCpuSeconds(metricsUrl)) - before;
    }
  }
  return total.map((seconds) => seconds / (requests * TURNS));
}

const us = (seconds: number) => `${Math.round(seconds * 1e6)} µs per request`;
