import type { Logger } from "pino";
import type { Metrics } from "./metrics.js";

/** Returns the current time, in milliseconds since 1970. */
export type Clock = () => number;

/** The parts of the process that everything else works with. */
export interface Context {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when the process shuts down: every wait and every outgoing call ends with it. */
  readonly closing: AbortSignal;
  readonly metrics: Metrics;
}
