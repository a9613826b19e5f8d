import { join } from "node:path";
import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { inRanges } from "@dataset-oracle/service/http-server/caller-address";
import { measureRequests } from "@dataset-oracle/service/http-server/metrics";
import { Egress } from "@dataset-oracle/service/untrusted/egress";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { ProviderConfig } from "./config.js";
import { Decider } from "./decisions/decider.js";
import { DecisionMemory } from "./decisions/decision-memory.js";
import { Lease, unusableFolder } from "./decisions/lease.js";
import { EvidenceStore } from "./evidence/evidence-store.js";
import type { Setup } from "./load-setup.js";
import { Metrics } from "./metrics.js";
import { ReportSigner } from "./report-signer.js";
import { Reporter } from "./reporter.js";
import { routes } from "./routes.js";
import { MAX_PUBLISHED_IN_FLIGHT, SourceReader } from "./source/source-reader.js";
import { ExtractionPool } from "./web-oracle/extraction-pool.js";
import { PublishedSpecStore } from "./web-oracle/published-spec-store.js";
import { RateLimitedExtractor } from "./web-oracle/rate-limited-extractor.js";
import { WebOracleKeyFinder } from "./web-oracle/web-oracle-key-finder.js";

/** A lease that is further ahead of the clock than this, in seconds, shows that the clock is or was wrong. */
const FAR_AHEAD = 60n;

const systemClock = () => BigInt(Math.floor(Date.now() / 1_000));

interface ProviderOptions {
  readonly logger: Logger;
  /** Collects the metrics. */
  readonly registry: Registry;
  /** The clock, in whole seconds since 1970; the system's by default. */
  readonly now?: () => bigint;
  /** Returns a number from 0 to below 1; the machine's by default. */
  readonly random?: () => number;
}

interface Provider {
  /** The HTTP service. Until `start` it signs nothing. Closing it lets the requests in progress finish. */
  readonly app: App;
  /**
   * Takes the lease, after which the provider signs. Call it when the service listens: a process that cannot listen must
   * not have stopped the one that does.
   *
   * @param end Called when the lease is lost, with the code that the process has to exit with.
   * @throws ExitError when the lease cannot be taken.
   */
  readonly start: (end: (exitCode: number) => void) => Promise<void>;
}

/** Builds a provider. Nothing of it is shared with another process before it is started. */
export async function buildProvider(
  setup: Setup,
  { logger, registry, now = systemClock, random = Math.random }: ProviderOptions,
): Promise<Provider> {
  const { config, served, secrets, account } = setup;
  const { redirectedOrigins } = config;
  const hasReserve = config.operators.length > 0;
  const isOperator = inRanges(config.operators);
  const metrics = new Metrics(registry);
  const egress = new Egress({ redirectedOrigins, secrets });
  const publishedEgress = new Egress({ redirectedOrigins, secrets, maxInFlight: MAX_PUBLISHED_IN_FLIGHT });
  const reader = new SourceReader({
    egress,
    publishedEgress,
    timeoutMs: config.sourceTimeoutMs,
    hasReserve,
    now,
    random,
    onAnswer: (source, seconds, reading) =>
      metrics.sourceRequests.observe({ source, outcome: reading.ok ? "ok" : reading.error.code }, seconds),
    onBackOff: ({ source, url }, change, reading) => {
      if (change === "started") metrics.backOffs.inc({ source: source?.name ?? "published" });
      // Anyone can make a published spec's requests fail, so logging them would let strangers fill the log.
      if (source === undefined) return;
      if (reading.ok) return logger.info({ source: source.name, url }, "source answers again");
      const { code: reason, detail } = reading.error;
      logger.warn(
        { source: source.name, url, reason, detail },
        "source is failing and is queried less often until it answers again",
      );
    },
  });
  let onLost: (exitCode: number) => void = () => {};
  const lease = new Lease(config.lease, {
    now,
    logger,
    onWrite: (seconds) => metrics.leaseWrites.observe(seconds),
    onLost: (exitCode) => onLost(exitCode),
  });
  const evidence = config.evidence && (await openEvidence(config.evidence, setup, logger));
  const pool = new ExtractionPool();
  if (setup.webOracle !== null) pool.start();
  const extractor = new RateLimitedExtractor(pool, hasReserve);
  const memory = new DecisionMemory({ hasReserve });
  const decider = new Decider({ reader, extractor, policy: config, memory, lease, evidence, now, logger, metrics });
  const specStore = setup.webOracle && new PublishedSpecStore(setup.webOracle.folder);
  const webOracleKeys =
    specStore &&
    new WebOracleKeyFinder(setup.webOracle, {
      ...{ specStore, redirectedOrigins, hasReserve, logger },
      charge: (caller, keys) => decider.charge(caller, keys),
    });
  const signer = new ReportSigner({ account, logger, metrics });
  const reporter = new Reporter({ served, webOracleKeys, decider, signer });
  metrics.watch(memory, lease, async () => (await decider.unreadiness()) === null);

  const app = await buildApp({
    logger,
    random,
    requestsPerMinute: config.requestsPerMinute,
    reserved: { isFor: isOperator, requestsPerMinute: config.operatorRequestsPerMinute },
    maxConnections: config.maxConnections,
    maxConnectionsPerCaller: config.maxConnectionsPerCaller,
    trustedProxies: config.trustedProxies,
  });
  measureRequests(app, registry);
  app.addHook("onClose", async () => {
    await Promise.all([
      lease.close(),
      egress.close(),
      publishedEgress.close(),
      pool.close(),
      evidence?.spot_price.close(),
      evidence?.web_oracle.close(),
    ]);
  });
  await app.register(routes({ reporter, decider, isOperator, anonymousPerMinute: config.anonymousRequestsPerMinute }));
  const start = async (end: (exitCode: number) => void) => {
    onLost = end;
    await lease.take();
    logSilence(lease.refusedThrough, now(), logger);
  };
  return { app, start };
}

/** Logs until when nothing new is signed. */
function logSilence(through: bigint, now: bigint, logger: Logger): void {
  const text = `no new round up to ${through} is signed, for ${through - now} s, because an earlier process may have signed it`;
  if (through <= now + FAR_AHEAD) return void logger.info(text);
  logger.warn(
    `${text}. Check the clock. If it is right now, it was ahead earlier: wait until then, or use a new key. Do not remove ` +
      "the lease, because rounds that were signed for the future can still be stored.",
  );
}

/**
 * Opens the evidence folders. With the Web Oracle, each gets half of the space, because anyone can fill the folder of
 * the Web Oracle.
 */
async function openEvidence(
  { folder, maxMegabytes }: NonNullable<ProviderConfig["evidence"]>,
  { config: policy, webOracle }: Setup,
  logger: Logger,
) {
  const maxBytes = (maxMegabytes * 1024 * 1024) / (webOracle === null ? 1 : 2);
  const { redirectedOrigins } = policy;
  const open = (name: string) =>
    EvidenceStore.open({ folder: join(folder, name), maxBytes, policy, redirectedOrigins, logger });
  try {
    return { spot_price: await open("spot-prices"), web_oracle: await open("web-oracle") };
  } catch (error) {
    throw unusableFolder("evidence", folder, error);
  }
}
