import type { Logger } from "pino";
import type { Registry } from "prom-client";

/** Returns the current time, in milliseconds since 1970. */
export type Clock = () => number;

/** What the whole process shares. */
export interface Context {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when the process shuts down: every wait and every outgoing call ends with it. */
  readonly closing: AbortSignal;
  /** Where every room registers its metrics, each once per process. */
  readonly registry: Registry;
}
