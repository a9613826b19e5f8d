import { type Context, createContext } from "@dataset-oracle/service/process/context";
import { type Logger, pino } from "pino";
import { Registry } from "prom-client";

/** What a process shares. */
export const testContext = (logger: Logger = pino({ level: "silent" })): Context =>
  createContext(logger, new AbortController().signal, new Registry());
