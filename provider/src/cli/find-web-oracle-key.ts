import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { loadDeployment } from "@dataset-oracle/service/config/deployment";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { pino } from "pino";
import type { Hex } from "viem";
import type { ProviderConfig } from "../config.js";
import type { SpotSource } from "../source/spot-source.js";
import { checkWebOracleSettings } from "../web-oracle/check-settings.js";
import { type WebOracleKey, WebOracleKeyFinder } from "../web-oracle/web-oracle-key-finder.js";

/** Stores nothing, because the configured folder belongs to a running provider. */
const NO_SPEC_STORE = { read: async () => null, write: async () => {} };

/**
 * Finds a key as a provider with this configuration serves it, on the first of its networks that has the spec.
 *
 * @throws ConfigError when the key is served on none of its networks.
 */
export async function findWebOracleKey(
  key: Hex,
  config: ProviderConfig,
  sources: readonly SpotSource[],
): Promise<WebOracleKey> {
  const deployments = config.webOracle === undefined ? [] : config.deployments.map(loadDeployment);
  const settings = checkWebOracleSettings(config.webOracle, deployments, sources, process.env);
  if (settings === null) {
    throw new ConfigError(
      "The spec of a Web Oracle key is read from the chain. Name a provider's configuration with the setting webOracle: " +
        "--config FILE. To try a spec that you have in a file: web-oracle try SPEC [ARGUMENT...]",
    );
  }
  const finder = new WebOracleKeyFinder(settings, {
    specStore: NO_SPEC_STORE,
    redirectedOrigins: config.redirectedOrigins,
    hasReserve: false,
    logger: pino(pino.destination({ fd: 2, sync: true })),
  });
  const problems: ProblemError[] = [];
  for (const { chainId, datasets } of deployments) {
    for (const { kind } of datasets.filter(({ keyForm }) => keyForm === "WEB_ORACLE")) {
      try {
        return await finder.find({ chainId, kind }, key, { id: "command", mayUseReserve: true });
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        problems.push(error);
      }
    }
  }
  const [problem] = problems.toSorted((a, b) => weight(b) - weight(a));
  throw new ConfigError(
    problem === undefined
      ? "No deployment has a Web Oracle dataset. Add a deployment with one to the setting deployments."
      : `${problem.title} ${problem.detail}`,
  );
}

/** A fault of the key itself is more useful to know than that it belongs to another dataset or network. */
const weight = ({ code }: ProblemError) => (code === "unknown_key" ? 0 : code === "other_kind" ? 1 : 2);
