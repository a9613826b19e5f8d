import type { Setup } from "./load-setup.js";
import { datasetsOf, isServed, type Served } from "./served-datasets.js";

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
  const datasets = `Web Oracle datasets: ${countWebOracleDatasets(served)}`;
  const [hosts, counts] =
    webOracle.hosts === "any"
      ? ["public hosts", datasets]
      : ["the hosts in webOracle/hosts", `${datasets}, hosts: ${webOracle.hosts.length}`];
  return `${summary} It serves the keys of every published spec that asks only ${hosts} (${counts}).`;
}

/** Lists the circumstances that an owner may not be aware of. */
export function listStartupWarnings({
  config,
  served,
  webOracle,
}: Pick<Setup, "config" | "served" | "webOracle">): string[] {
  const redirected = Object.entries(config.redirectedOrigins).map(
    ([origin, target]) => `DEVELOPMENT ONLY: ${target} is asked instead of ${origin}. The signed prices are not real.`,
  );
  const unserved = datasetsOf(served)
    .filter(({ unservedKeys }) => unservedKeys.length > 0)
    .map(
      ({ address, chainId, unservedKeys }) =>
        `${address} on network ${chainId}: these keys have too few sources and are not served: ` +
        `${unservedKeys.join(", ")}. Add sources, or lower minSources.`,
    );
  const isUnservedWeb = webOracle === null && countWebOracleDatasets(served) > 0;
  const web = isUnservedWeb ? ["The Web Oracle's datasets are not served, because webOracle is not set."] : [];
  const isOpen =
    webOracle?.hosts === "any" ? ['webOracle/hosts is "any": published specs may ask every public host.'] : [];
  return [...redirected, ...unserved, ...web, ...isOpen];
}

const countWebOracleDatasets = (served: Served) =>
  datasetsOf(served).filter(({ keyForm }) => keyForm === "WEB_ORACLE").length;
