import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { BatchReportRequest, ReportRequest, SignedReport } from "@dataset-oracle/protocol/http-schemas/reports";
import type { Report } from "@dataset-oracle/protocol/report";
import type { Deployment } from "@dataset-oracle/service/config/deployment";
import { Secrets } from "@dataset-oracle/service/untrusted/secrets";
import { Value } from "@sinclair/typebox/value";
import { pino } from "pino";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { buildProvider } from "../../src/app.js";
import type { RateLimit } from "../../src/callers/rate-limit.js";
import { ProviderConfig } from "../../src/config.js";
import { findServedDatasets } from "../../src/keys/served-keys.js";
import { loadSources, SHIPPED_SOURCES } from "../../src/source/load-sources.js";
import type { SpotSource } from "../../src/source/spot-source.js";
import type { CheckedWebOracleSettings } from "../../src/web-oracle/check-settings.js";
import { OTHER_SOURCES } from "./fake-exchanges.js";
import { DATASET, spotPriceDeployment } from "./spot-price-deployment.js";
import { contextAt } from "./test-context.js";

export { DATASET };

export const PRIVATE_KEY = `0x${"11".repeat(32)}` as const;
export const ACCOUNT = privateKeyToAccount(PRIVATE_KEY);
export const ETH_USD = spotPriceKey("ETH-USD");
/** The tests' clock when a provider starts, in seconds. */
export const START = 1_800_000_000;

/** The same dataset on two networks. */
export const DEPLOYMENTS: readonly Deployment[] = [spotPriceDeployment(), { ...spotPriceDeployment(), chainId: 43 }];

const SOURCES = loadSources([SHIPPED_SOURCES], OTHER_SOURCES);

/** Sources with other rate limits. */
export const withRateLimits = (
  sources: readonly SpotSource[],
  rateLimitOf: (source: SpotSource) => RateLimit | null,
): SpotSource[] =>
  sources.map((source) => ({
    ...source,
    queries: new Map(
      [...source.queries].map(([pair, query]) => {
        const request = { ...query.request, rateLimit: rateLimitOf(source) };
        return [pair, { ...query, request }] as const;
      }),
    ),
  }));

/**
 * A provider that listens on loopback, with a clock that stands still until it is moved.
 *
 * @param start The clock's time at the start. Once the provider listens, the clock jumps ahead, as if it had run for a
 * long time.
 * @param rateLimitOf Returns the rate limit of what stands in for an exchange; there is none by default.
 */
export async function startProvider(
  settings: Partial<ProviderConfig>,
  {
    deployments = DEPLOYMENTS,
    rateLimitOf = (_: Pick<SpotSource, "rateLimit">): RateLimit | null => null,
    start = START,
    sources = SOURCES,
    webOracle = null as CheckedWebOracleSettings | null,
  } = {},
) {
  const lease = join(mkdtempSync(join(tmpdir(), "provider-")), "lease");
  // However slow the machine is, no source is.
  const defaults = { lease, requestsPerMinute: 100_000, sourceTimeoutMs: 60_000 };
  const config = { ...Value.Create(ProviderConfig), ...defaults, ...settings };
  const clock = { now: start };
  const logs: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void logs.push(JSON.parse(line)) });
  const served = findServedDatasets(deployments, withRateLimits(sources, rateLimitOf), config.minSources);
  const context = contextAt(() => BigInt(clock.now), logger);
  const { registry } = context;
  const setup = { config, served, webOracle, secrets: Secrets.NONE, account: ACCOUNT };
  const provider = await buildProvider(setup, context);
  const { app } = provider;
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  await provider.start(() => {});
  clock.now += 1_000;
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
  const ask = (change: Partial<ReportRequest> = {}, headers: Record<string, string> = {}) =>
    post("/report", { ...request(clock.now), ...change }, headers);
  const askRow = (change: Partial<BatchReportRequest> = {}) =>
    post("/report/batch", { network_id: 42, dataset: DATASET, keys: [ETH_USD], timestamp: clock.now, ...change });
  return { url, clock, logs, registry, post, ask, askRow, close: () => app.close() };
}
export type TestProvider = Awaited<ReturnType<typeof startProvider>>;

export const request = (timestamp: number): ReportRequest => ({
  network_id: 42,
  dataset: DATASET,
  key: ETH_USD,
  timestamp,
});

/** The report that an answer says was signed. */
export const reportOf = (answer: SignedReport): Report => ({
  chainId: answer.network_id,
  dataset: answer.dataset as Address,
  key: answer.key as Hex,
  round: BigInt(answer.timestamp),
  outcome: answer.outcome,
  value: answer.value as Hex,
});

/** A price as decimal digits scaled by 10^18, as 32 bytes on the wire. */
export const wireValue = (scaled: bigint) => `0x${scaled.toString(16).padStart(64, "0")}`;
