import type { Environment, Server } from "../processes.js";
import { measureAddedLatency } from "./added-latency.js";
import { measureDistinctKeys, measureSameKey } from "./cpu-per-request.js";
import type { Measurement } from "./measurement.js";
import { measureThroughput, storeAll } from "./transaction-throughput.js";

/** A comparison of the operator with a baseline. */
export interface Benchmark {
  readonly name: string;
  readonly title: string;
  /** Limits the median: from above if `isCost`, otherwise from below. */
  readonly bound: number;
  readonly isCost: boolean;
  /** Runs once, before the first round. */
  prepare?(environment: Environment): Promise<void>;
  measure(environment: Environment, fixedAnswer: Server): Promise<Measurement>;
}

export const BENCHMARKS: readonly Benchmark[] = [
  {
    name: "same-key",
    title: "same key and round: CPU time of a bare Fastify server, relative to the operator's",
    bound: 0.5,
    isCost: false,
    measure: measureSameKey,
  },
  {
    name: "distinct-keys",
    title: "distinct keys: the operator's CPU time, relative to a naive implementation",
    bound: 1 / 6,
    isCost: true,
    measure: measureDistinctKeys,
  },
  {
    name: "broadcast",
    title: "distinct keys, broadcast: transactions per second, relative to bare viem",
    bound: 0.3,
    isCost: false,
    prepare: storeAll,
    measure: measureThroughput,
  },
  {
    name: "latency",
    title: "one request at a time: time added to that of the slowest provider, relative to a naive implementation",
    bound: 1 / 3,
    isCost: true,
    measure: measureAddedLatency,
  },
];

/** Returns true if a median is within its bound. */
export function isWithin({ bound, isCost }: Benchmark, median: number): boolean {
  return isCost ? median <= bound : median >= bound;
}
