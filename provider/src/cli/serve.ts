import { SECP256K1 } from "@dataset-oracle/service/crypto/secp256k1";
import { processRegistry } from "@dataset-oracle/service/http-server/metrics";
import { serve } from "@dataset-oracle/service/http-server/serve";
import { parseCommandLine, requireConfigFile } from "@dataset-oracle/service/process/arguments";
import { createContext } from "@dataset-oracle/service/process/context";
import { createLogger } from "@dataset-oracle/service/process/logger";
import { buildProvider } from "../app.js";
import { datasetsOf, isServed, type Served } from "../keys/served-keys.js";
import { checkFolders, loadSetup, type Setup } from "../load-setup.js";
import { CHECK_USAGE, SERVE_USAGE } from "./usage.js";

/** Runs `provider serve`: the service, until it is told to stop. */
export async function serveReports(args: readonly string[]): Promise<void> {
  const file = readConfigFile(args, SERVE_USAGE);
  const { setup, warnings } = await loadSetup(file, process.env);
  const logger = createLogger();
  for (const note of [...warnings, ...listStartupWarnings(setup)]) logger.warn(note);
  logger.info(`signatures are made by ${SECP256K1.name}`);
  logger.info(summarizeSetup(setup));
  const closing = new AbortController();
  const context = createContext(logger, closing.signal, processRegistry());
  const { app, start } = await buildProvider(setup, context);
  // Not earlier, because requests in progress are finished, and some of them wait.
  app.addHook("onClose", async () => closing.abort());
  await serve(app, setup.config, context.registry, logger, { start });
}

/** Runs `provider check`: prints what the owner must or should know about the configuration. */
export async function checkConfiguration(args: readonly string[]): Promise<void> {
  const file = readConfigFile(args, CHECK_USAGE);
  const { setup, warnings } = await loadSetup(file, process.env);
  checkFolders(setup.config);
  for (const warning of [...warnings, ...listStartupWarnings(setup)]) console.error(warning);
  console.log(`${file} is valid. ${summarizeSetup(setup)}`);
}

/** @throws ConfigError */
function readConfigFile(args: readonly string[], usage: string): string {
  const { values, positionals } = parseCommandLine(args, usage, { config: { type: "string" } });
  return requireConfigFile(values.config, positionals, usage);
}

/** Describes the provider's address, networks and datasets in one or two sentences. */
export function summarizeSetup({
  served,
  webOracle,
  account,
}: Pick<Setup, "served" | "webOracle" | "account">): string {
  const networks = [...served].map(([chainId, datasets]) => {
    const useful = [...datasets.values()].filter((dataset) => isServed(dataset, webOracle !== null));
    const keys = useful.reduce((sum, dataset) => sum + dataset.keys.size, 0);
    return `network ${chainId} (datasets: ${useful.length}, keys: ${keys})`;
  });
  const summary = `Provider ${account.address} serves ${networks.join(", ")}.`;
  if (webOracle === null) return summary;
  const hosts = webOracle.hosts === "any" ? "public hosts" : `the ${webOracle.hosts.length} hosts in webOracle/hosts`;
  const datasets = `Web Oracle datasets: ${countWebOracleDatasets(served)}`;
  return `${summary} It serves the keys of every published spec that queries only ${hosts} (${datasets}).`;
}

/** Lists the circumstances that an owner may not be aware of. */
export function listStartupWarnings({
  config,
  served,
  webOracle,
}: Pick<Setup, "config" | "served" | "webOracle">): string[] {
  const redirected = Object.entries(config.redirectedOrigins).map(
    ([origin, target]) =>
      `DEVELOPMENT ONLY: ${target} is queried instead of ${origin}. The signed prices are not real.`,
  );
  const unserved = datasetsOf(served)
    .filter(({ unservedKeys }) => unservedKeys.length > 0)
    .map(
      ({ address, chainId, kind, unservedKeys }) =>
        `${address} on network ${chainId}, a ${kind} dataset: these keys have too few sources and are not served: ` +
        `${unservedKeys.join(", ")}. Add sources, or lower minSources. Prices need a median dataset.`,
    );
  const isUnservedWeb = webOracle === null && countWebOracleDatasets(served) > 0;
  const web = isUnservedWeb ? ["The Web Oracle's datasets are not served, because webOracle is not set."] : [];
  const open =
    webOracle?.hosts === "any"
      ? ['webOracle/hosts is "any": published specs may query every public host that no source file queries.']
      : [];
  return [...redirected, ...unserved, ...web, ...open];
}

const countWebOracleDatasets = (served: Served) =>
  datasetsOf(served).filter(({ keyForm }) => keyForm === "WEB_ORACLE").length;
