import { join } from "node:path";
import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { inRanges } from "@dataset-oracle/service/http-server/caller-address";
import { measureRequests } from "@dataset-oracle/service/http-server/metrics";
import { type Context, secondsOf } from "@dataset-oracle/service/process/context";
import { Egress } from "@dataset-oracle/service/untrusted/egress";
import type { Logger } from "pino";
import type { ProviderConfig } from "./config.js";
import { Decider } from "./decisions/decider.js";
import { DecisionMemory } from "./decisions/decision-memory.js";
import { Lease, unusableFolder } from "./decisions/lease.js";
import { EvidenceStore } from "./evidence/evidence-store.js";
import type { Setup } from "./load-setup.js";
import { Metrics } from "./metrics.js";
import { ReportSigner } from "./reports/report-signer.js";
import { Reporter } from "./reports/reporter.js";
import { routes } from "./routes.js";
import { MAX_PUBLISHED_IN_FLIGHT, SourceReader } from "./source/source-reader.js";
import { ExtractionPool } from "./web-oracle/extraction-pool.js";
import { PublishedSpecStore } from "./web-oracle/published-spec-store.js";
import { RateLimitedExtractor } from "./web-oracle/rate-limited-extractor.js";
import { WebOracleKeyFinder } from "./web-oracle/web-oracle-key-finder.js";

/** A lease that is further ahead of the clock than this, in seconds, shows that the clock is or was wrong. */
const FAR_AHEAD = 60n;

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
export async function buildProvider(setup: Setup, context: Context): Promise<Provider> {
  const { config, served, account, webOracle } = setup;
  const { logger, clock, registry } = context;
  const hasReserve = config.operators.length > 0;
  const isOperator = inRanges(config.operators);
  const metrics = new Metrics(registry);
  const sources = composeSources(setup, context, metrics);
  const lease = new Lease(context, metrics.leaseWrites, config.lease);
  const evidence = config.evidence && (await openEvidence(config.evidence, setup, logger));
  const pool = new ExtractionPool(clock);
  if (webOracle !== null) pool.start();
  const extractor = new RateLimitedExtractor(pool, clock, hasReserve);
  const memory = new DecisionMemory({ hasReserve });
  const decider = new Decider(sources.reader, extractor, memory, lease, evidence, metrics, context, config);
  const webOracleKeys =
    webOracle &&
    new WebOracleKeyFinder(new PublishedSpecStore(webOracle.folder), decider, context, {
      ...webOracle,
      redirectedOrigins: config.redirectedOrigins,
      hasReserve,
    });
  const reporter = new Reporter(served, webOracleKeys, decider, new ReportSigner(account, logger, metrics));
  metrics.watch(
    memory,
    () => lease.problem === "lost",
    async () => (await decider.unreadiness()) === null,
  );

  const reserved = { isFor: isOperator, requestsPerMinute: config.operatorRequestsPerMinute };
  const app = await buildApp(context, { ...config, reserved });
  measureRequests(app, registry);
  const stores = Object.values(evidence ?? {});
  app.addHook("onClose", async () => {
    await Promise.all([lease, pool, sources, ...stores].map((one) => one.close()));
  });
  const onOperator = hasReserve ? metrics.watchOperators(clock) : () => {};
  const { anonymousRequestsPerMinute: anonymousPerMinute } = config;
  await app.register(routes(reporter, decider, { isOperator, onOperator, anonymousPerMinute }));
  const start = async (end: (exitCode: number) => void) => {
    await lease.take(end);
    logSilence(lease.refusedThrough, secondsOf(clock), logger);
  };
  return { app, start };
}

/** Composes what asks the sources, measured and logged. */
function composeSources({ config, secrets }: Setup, context: Context, metrics: Metrics) {
  const { redirectedOrigins } = config;
  const egress = new Egress(secrets, { redirectedOrigins });
  const publishedEgress = new Egress(secrets, { redirectedOrigins, maxInFlight: MAX_PUBLISHED_IN_FLIGHT });
  const reader = new SourceReader(egress, publishedEgress, context, {
    timeoutMs: config.sourceTimeoutMs,
    hasReserve: config.operators.length > 0,
    onAnswer: (source, seconds, reading) =>
      metrics.sourceRequests.observe({ source, outcome: reading.ok ? "ok" : reading.error.code }, seconds),
    onBackOff: ({ source, url }, change, reading) => {
      if (change === "started") metrics.backOffs.inc({ source: source?.name ?? "published" });
      // Anyone can make a published spec's requests fail, so logging them would let strangers fill the log.
      if (source === undefined) return;
      if (reading.ok) return context.logger.info({ source: source.name, url }, "source answers again");
      const { code: reason, detail } = reading.error;
      context.logger.warn(
        { source: source.name, url, reason, detail },
        "source is failing and is queried less often until it answers again",
      );
    },
  });
  return { reader, close: () => Promise.all([egress.close(), publishedEgress.close()]) };
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
  const { redirectedOrigins } = policy;
  const maxBytes = (maxMegabytes * 1024 * 1024) / (webOracle === null ? 1 : 2);
  const open = (name: string) =>
    EvidenceStore.open(logger, { folder: join(folder, name), maxBytes, policy, redirectedOrigins });
  try {
    return { spot_price: await open("spot-prices"), web_oracle: await open("web-oracle") };
  } catch (error) {
    throw unusableFolder("evidence", folder, error);
  }
}
