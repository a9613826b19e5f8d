import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXCHANGE_ORIGINS, EXCHANGES, marketRedirects } from "@dataset-oracle/devnet/exchange-origins";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type ServiceProcess, startService } from "@dataset-oracle/devnet/service-process";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Hex } from "viem";

export interface ProviderOptions {
  /** Has `deployment.json` and receives the provider's files. */
  readonly folder: string;
  readonly name: string;
  readonly privateKey: Hex;
  readonly marketUrl: string;
  readonly pairs: readonly string[];
  /** The exchanges of the market that it reads; all by default. */
  readonly exchanges?: readonly string[];
  readonly minSources: number;
  /** Further origins that are on this machine. */
  readonly redirects?: Readonly<Record<string, string>>;
  /** Further settings. */
  readonly settings?: object;
}

/** A provider that runs, and where its metrics are. */
export interface StartedProvider extends ServiceProcess {
  readonly metricsUrl: string;
}

/** Starts a provider process that reads the shipped source formats, but with the benchmark's pairs. */
export async function startProvider(options: ProviderOptions): Promise<StartedProvider> {
  const {
    folder,
    name,
    privateKey,
    marketUrl,
    pairs,
    exchanges = EXCHANGES,
    minSources,
    settings,
    redirects: more = {},
  } = options;
  const shipped = join(ROOT, "provider/sources");
  const names = readdirSync(shipped).map((file) => file.replace(".json", ""));
  mkdirSync(join(folder, name));
  for (const exchange of exchanges) {
    const spec = JSON.parse(readFileSync(join(shipped, `${exchange}.json`), "utf8"));
    const listed = spec.convert === undefined ? [...pairs, "USDT-USD"] : pairs;
    const source = { ...spec, name: `bench-${exchange}`, pairs: listed };
    writeFileSync(join(folder, name, `${exchange}.json`), JSON.stringify(source));
  }
  const redirects = marketRedirects(marketUrl);
  const metricsPort = await freePort();
  const config = {
    port: await freePort(),
    metricsPort,
    lease: `${name}-lease`,
    deployments: ["deployment.json"],
    sources: [name],
    excludedSources: names,
    redirectedOrigins: {
      ...more,
      ...Object.fromEntries(
        exchanges.map((exchange) => EXCHANGE_ORIGINS[exchange] ?? "").map((origin) => [origin, redirects[origin]]),
      ),
    },
    minSources,
    operators: ["127.0.0.1"],
    operatorRequestsPerMinute: 10_000_000,
    ...settings,
  };
  const provider = await startService({ program: "provider", name, config, privateKeys: [privateKey], folder });
  return { ...provider, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
}
