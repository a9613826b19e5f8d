import type { SignedReport } from "@dataset-oracle/protocol/wire";
import { inRanges } from "@dataset-oracle/service/address-ranges";
import { type App, buildApp } from "@dataset-oracle/service/app";
import type { Logger } from "pino";
import type { LocalAccount } from "viem";
import type { ProviderConfig } from "./config.js";
import { Reporter } from "./reporter.js";
import { Rounds } from "./rounds.js";
import { routes } from "./routes.js";
import type { Served } from "./served.js";
import { SourceReader } from "./source/reader.js";
import { StateFile } from "./state-file.js";

/** About a thousand keys in each of the rounds that can be signed at once, several times over. */
const ROUNDS_KEPT = 100_000;

/** How far ahead of the clock a former life's rounds are not explained by a restart, in seconds. */
const FAR_AHEAD = 60n;

/** The whole seconds since 1970. */
const systemClock = () => BigInt(Math.floor(Date.now() / 1000));

/** The provider as an HTTP service, ready to listen. Closing it lets the reports under way be finished. */
export async function buildProvider(
  config: ProviderConfig,
  served: Served,
  account: LocalAccount,
  logger: Logger,
  now: () => bigint = systemClock,
): Promise<App> {
  const reader = new SourceReader({ timeoutMs: config.sourceTimeoutMs, hasReserve: config.operators.length > 0, now });
  const isOperator = inRanges(config.operators);
  const state = await StateFile.open(config.stateFile, now());
  if (state.signedThrough > now() + FAR_AHEAD) {
    logger.warn(`Silent until ${state.signedThrough}: ${config.stateFile} says so. The clock is wrong, or was.`);
  }
  const rounds = new Rounds<SignedReport>(ROUNDS_KEPT, state.signedThrough);
  const { minSources } = config;
  const reporter = new Reporter({ account, served, minSources, reader, rounds, state, now, logger });
  const app = await buildApp({
    logger,
    requestsPerMinute: config.requestsPerMinute,
    reserved: { isFor: isOperator, requestsPerMinute: config.operatorRequestsPerMinute },
    trustedProxies: config.trustedProxies,
  });
  app.addHook("onClose", async () => state.close());
  await app.register(routes(reporter, isOperator, config.strangerRequestsPerMinute));
  return app;
}
