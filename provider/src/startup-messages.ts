import type { Setup } from "./load-setup.js";
import { datasetsOf, isServed, type Served } from "./served-keys.js";

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
  return `${summary} It serves the keys of every published spec that queries only ${hosts} (${counts}).`;
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
    .map(({ address, chainId, kind, unservedKeys }) => {
      const [reason, fix] =
        kind === "majority"
          ? [
              "are prices, which need a median, while the dataset takes a majority,",
              "Deploy them in a dataset that takes the median.",
            ]
          : ["have too few sources", "Add sources, or lower minSources."];
      return `${address} on network ${chainId}: these keys ${reason} and are not served: ${unservedKeys.join(", ")}. ${fix}`;
    });
  const isUnservedWeb = webOracle === null && countWebOracleDatasets(served) > 0;
  const web = isUnservedWeb ? ["The Web Oracle's datasets are not served, because webOracle is not set."] : [];
  const open =
    webOracle?.hosts === "any" ? ['webOracle/hosts is "any": published specs may query every public host.'] : [];
  return [...redirected, ...unserved, ...web, ...open];
}

const countWebOracleDatasets = (served: Served) =>
  datasetsOf(served).filter(({ keyForm }) => keyForm === "WEB_ORACLE").length;
