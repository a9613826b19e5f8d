import { ConfigError } from "@dataset-oracle/service/config";
import { loadDeployment } from "@dataset-oracle/service/deployment";
import { ProblemError } from "@dataset-oracle/service/problem";
import { pino } from "pino";
import type { Hex } from "viem";
import type { ProviderConfig } from "../config.js";
import type { SpotSource } from "../source/spot-source.js";
import { planWebOracle } from "../web-oracle/plan.js";
import { Registry } from "../web-oracle/registry.js";
import { Specs } from "../web-oracle/specs.js";
import { WebOracle, type WebOracleKey } from "../web-oracle/web-oracle.js";

/** A running provider's folder is its own. */
const NO_FOLDER = { read: async () => null, write: async () => {} };

/**
 * The key as a provider of this configuration serves it: of the first of its networks where the spec is published.
 *
 * @throws ConfigError when it serves the key nowhere, and says why.
 */
export async function findWebKey(
  key: Hex,
  config: ProviderConfig,
  sources: readonly SpotSource[],
): Promise<WebOracleKey> {
  const deployments = config.webOracle === undefined ? [] : config.deployments.map(loadDeployment);
  const plan = planWebOracle(config.webOracle, deployments, sources, process.env);
  if (plan === null) {
    throw new ConfigError(
      "A Web Oracle key's spec is read from the chain: name a provider's configuration that has the setting webOracle, " +
        "with --config FILE. A spec that you have in a file is tried with: web-oracle try SPEC [ARGUMENT...]",
    );
  }
  const { registries, hosts, rateLimitOf } = plan;
  const specs = new Specs({
    registries: new Map(registries.map((settings) => [settings.chainId, new Registry(settings)])),
    folder: NO_FOLDER,
    hasReserve: false,
    logger: pino(pino.destination({ fd: 2, sync: true })),
  });
  const webOracle = new WebOracle({ specs, hosts, rateLimitOf, overrides: config.sourceOverrides });
  const problems: ProblemError[] = [];
  for (const { chainId, datasets } of deployments) {
    for (const { kind } of datasets.filter(({ keyForm }) => keyForm === "WEB_ORACLE")) {
      const found = await webOracle.find({ chainId, kind }, key, true);
      if (!(found instanceof ProblemError)) return found;
      problems.push(found);
    }
  }
  const [problem] = problems.toSorted((a, b) => weight(b) - weight(a));
  throw new ConfigError(
    problem === undefined ? "No deployment has a Web Oracle dataset." : `${problem.title} ${problem.detail}`,
  );
}

/** What is wrong with the key itself tells more than that another dataset, or another network, has it. */
const weight = ({ code }: ProblemError) => (code === "unknown_key" ? 0 : code === "other_kind" ? 1 : 2);
