import { setTimeout as sleep } from "node:timers/promises";
import { stringToHex } from "viem";
import { dataRequestBody } from "../data-request-body.js";
import { postJson } from "../http-client.js";
import type { BenchNetwork, Environment, Server } from "../processes.js";
import { upperMedian } from "../upper-median.js";
import type { Measurement } from "./measurement.js";

const SAMPLES = 60;
/** How old the round is that the providers are asked for directly. */
const ROUND_AGE_MS = 2_000;
/** The pause between requests, so that the providers have finished the previous one. */
const PAUSE_MS = 12;

/** The index of the next key. No key is requested twice in a round. */
let next = 0;

/**
 * Measures the time that the operator adds to a request, relative to the naive implementation. The added time is the
 * response time, with one request at a time, minus that of the slowest provider when it is asked directly.
 */
export async function measureAddedLatency(environment: Environment): Promise<Measurement> {
  const direct: number[] = [];
  const served: number[] = [];
  const naive: number[] = [];
  const timeOfRequest = ({ requestUrl }: Server) => {
    const asked = dataRequestBody(environment, nextKey(environment));
    return timeOf(() => postJson(requestUrl, asked));
  };
  for (let i = 0; i < SAMPLES; i++) {
    direct.push(await slowestOf(environment, nextKey(environment)));
    await sleep(PAUSE_MS);
    served.push(await timeOfRequest(environment.operator));
    await sleep(PAUSE_MS);
    naive.push(await timeOfRequest(environment.naive));
    await sleep(PAUSE_MS);
  }
  const slowest = upperMedian(direct);
  const [own, others] = [upperMedian(served) - slowest, upperMedian(naive) - slowest];
  const note = `${ms(own)}; naive implementation ${ms(others)}; the slowest provider itself ${ms(slowest)}`;
  return { ratio: own / others, note };
}

const ms = (time: number) => `${time.toFixed(2)} ms`;

const nextKey = ({ keys }: BenchNetwork) => keys[next++ % keys.length] as string;

async function slowestOf({ dataset, providers }: BenchNetwork, key: string) {
  const timestamp = Math.floor((Date.now() - ROUND_AGE_MS) / 1_000);
  const asked = { network_id: 42, dataset, key: stringToHex(key), timestamp };
  const times = providers.map(({ url }) => timeOf(() => postJson(`${url}/report`, asked)));
  return Math.max(...(await Promise.all(times)));
}

async function timeOf(work: () => Promise<unknown>) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
