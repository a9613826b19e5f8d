import { type Context, createContext } from "@dataset-oracle/service/process/context";
import { type Logger, pino } from "pino";
import { Registry } from "prom-client";

/** What a process shares, for a test that has a clock of its own, in whole seconds. */
export const contextAt = (now: () => bigint, logger: Logger = pino({ level: "silent" })): Context => ({
  ...createContext(logger, new AbortController().signal, new Registry()),
  clock: { now: () => Number(now()) * 1_000, monotonic: () => performance.now() },
});
