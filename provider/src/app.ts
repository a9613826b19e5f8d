import { join } from "node:path";
import { inRanges } from "@dataset-oracle/service/address-ranges";
import { type App, buildApp } from "@dataset-oracle/service/app";
import { Egress } from "@dataset-oracle/service/egress/egress";
import type { Secrets } from "@dataset-oracle/service/egress/secrets";
import { measureRequests } from "@dataset-oracle/service/metrics";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { LocalAccount } from "viem";
import type { ProviderConfig } from "./config.js";
import { DecisionStore } from "./decision-store.js";
import { EvidenceStore, unusableEvidence } from "./evidence/evidence-store.js";
import { Metrics } from "./metrics.js";
import { Recent } from "./recent.js";
import { Reporter } from "./reporter.js";
import { routes } from "./routes.js";
import type { Served } from "./served.js";
import { SourceReader } from "./source/reader.js";
import { openWebOracle } from "./web-oracle/open.js";
import type { WebOraclePlan } from "./web-oracle/plan.js";

/** About a thousand keys in each of the rounds that can be signed at once, several times over. */
const REPORTS_KEPT = 50_000;
const ROWS_KEPT = 1_000;

/** How far ahead of the clock pruned rounds are not explained by a new database, in seconds. */
const FAR_AHEAD = 60n;

/** The whole seconds since 1970. */
const systemClock = () => BigInt(Math.floor(Date.now() / 1000));

/** What a provider can report on, and what it needs for that. */
export interface Supply {
  readonly served: Served;
  /** Null when the Web Oracle's datasets are not served. */
  readonly webOracle: WebOraclePlan | null;
  readonly secrets: Secrets;
}

/** What surrounds a provider. */
export interface Surroundings {
  readonly logger: Logger;
  /** Where its figures go. */
  readonly registry: Registry;
  /** The clock, in whole seconds since 1970; the system's unless another is given. */
  readonly now?: () => bigint;
}

/** The provider as an HTTP service, ready to listen. Closing it lets the reports under way be finished. */
export async function buildProvider(
  config: ProviderConfig,
  { served, webOracle, secrets }: Supply,
  account: LocalAccount,
  { logger, registry, now = systemClock }: Surroundings,
): Promise<App> {
  const metrics = new Metrics(registry);
  const hasReserve = config.operators.length > 0;
  const egress = new Egress({ overrides: config.sourceOverrides, secrets });
  const reader = new SourceReader({
    egress,
    timeoutMs: config.sourceTimeoutMs,
    hasReserve,
    now,
    onAnswer: (source, seconds, reading) => metrics.sourceAsked(source, seconds, reading),
  });
  const isOperator = inRanges(config.operators);
  const decisions = await DecisionStore.open(config.database, { now, onWrite: (seconds) => metrics.written(seconds) });
  if (decisions.prunedThrough > now() + FAR_AHEAD) {
    logger.warn(`Silent until ${decisions.prunedThrough}: ${config.database} says so. The clock is wrong, or was.`);
  }
  const evidence = config.evidence && (await openEvidence(config.evidence, webOracle !== null, config, logger));
  const reporter = new Reporter({
    account,
    served,
    policy: config,
    webOracle: webOracle && openWebOracle(webOracle, config.sourceOverrides, hasReserve, logger),
    evidence,
    reader,
    decisions,
    signedReports: new Recent(REPORTS_KEPT),
    signedRows: new Recent(ROWS_KEPT),
    now,
    logger,
    metrics,
  });
  metrics.watch(decisions, () => reporter.isReady());
  const app = await buildApp({
    logger,
    requestsPerMinute: config.requestsPerMinute,
    reserved: { isFor: isOperator, requestsPerMinute: config.operatorRequestsPerMinute },
    maxConnections: config.maxConnections,
    trustedProxies: config.trustedProxies,
  });
  measureRequests(app, registry);
  app.addHook("onClose", async () => {
    await Promise.all([decisions.close(), egress.close(), evidence?.spotPrices.close(), evidence?.webOracle.close()]);
  });
  await app.register(routes(reporter, isOperator, config.strangerRequestsPerMinute));
  return app;
}

/** With the Web Oracle, each kind of key has half of the room: strangers can fill theirs. */
async function openEvidence(
  { folder, maxMegabytes }: NonNullable<ProviderConfig["evidence"]>,
  hasWebOracle: boolean,
  { sourceOverrides: overrides }: ProviderConfig,
  logger: Logger,
) {
  const maxBytes = (maxMegabytes * 1024 * 1024) / (hasWebOracle ? 2 : 1);
  const open = (folder: string) => EvidenceStore.open({ folder, maxBytes, overrides, logger });
  try {
    return { spotPrices: await open(join(folder, "spot-prices")), webOracle: await open(join(folder, "web-oracle")) };
  } catch (error) {
    throw unusableEvidence(folder, error);
  }
}
