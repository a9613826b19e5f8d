import { storeAll, throughput } from "./broadcast.js";
import { distinctKeys, sameKey } from "./cpu.js";
import { addedLatency } from "./latency.js";

/**
 * What is measured. `must` and `stretch` are bounds of the median: the most where `isCost`, else the least. `measure`
 * makes one round of both sides, and gives their ratio, or difference, and what it is made of.
 */
export const FIGURES = [
  {
    name: "same-key",
    title: "same key and round, not broadcast: bare Fastify's CPU time to the operator's",
    unit: "",
    must: 0.5,
    stretch: 0.75,
    isCost: false,
    measure: sameKey,
  },
  {
    name: "distinct-keys",
    title: "distinct keys, not broadcast: the operator's CPU time to the plain way's",
    unit: "",
    must: 1 / 6,
    stretch: 1 / 10,
    isCost: true,
    measure: distinctKeys,
  },
  {
    name: "broadcast",
    title: "distinct keys, broadcast: transactions a second, to bare viem's",
    unit: "",
    must: 0.4,
    stretch: 0.55,
    isCost: false,
    prepare: storeAll,
    measure: throughput,
  },
  {
    name: "latency",
    title: "one request at a time, not broadcast: time added to the slowest provider's, p50",
    unit: " ms",
    must: 3,
    stretch: 1.5,
    isCost: true,
    measure: addedLatency,
  },
];

/** Whether a median is within a bound. */
export function isWithin({ isCost }, bound, median) {
  return isCost ? median <= bound : median >= bound;
}
