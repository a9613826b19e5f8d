import type { Served } from "./served.js";
import type { SourceOverrides } from "./source-overrides.js";
import type { WebOraclePlan } from "./web-oracle/plan.js";

/** What a provider's owner should see when it starts. */
export function startNotes(served: Served, webOracle: WebOraclePlan | null, overrides: SourceOverrides): string[] {
  const redirected = Object.entries(overrides).map(
    ([origin, target]) => `DEVELOPMENT ONLY: ${origin} is not asked, but ${target}. The prices signed are not real.`,
  );
  const unserved = [...served.values()]
    .flatMap((datasets) => [...datasets.values()])
    .filter(({ unservedKeys }) => unservedKeys.length > 0)
    .map(
      ({ address, chainId, unservedKeys }) =>
        `Too few sources, so not served of ${address} on network ${chainId}: ${unservedKeys.join(", ")}.`,
    );
  const isUnservedWeb = webOracle === null && webDatasets(served) > 0;
  const web = isUnservedWeb ? ["The Web Oracle's datasets are not served: there is no setting webOracle."] : [];
  const isOpen =
    webOracle?.hosts === "any" ? ['webOracle: published specs may ask any public host: hosts is "any".'] : [];
  return [...redirected, ...unserved, ...web, ...isOpen];
}

/** One sentence: who serves how much. */
export function summary(served: Served, webOracle: WebOraclePlan | null, provider: string): string {
  const networks = [...served].map(([chainId, datasets]) => {
    const keys = [...datasets.values()].reduce((sum, dataset) => sum + dataset.keys.size, 0);
    return `network ${chainId}: ${keys} keys of ${datasets.size} datasets`;
  });
  const hosts = webOracle?.hosts === "any" ? "any public host" : `${webOracle?.hosts.length} hosts`;
  const web =
    webOracle === null ? "" : ` It serves all keys of ${webDatasets(served)} Web Oracle datasets that ask ${hosts}.`;
  return `Provider ${provider} serves ${networks.join("; ")}.${web}`;
}

function webDatasets(served: Served): number {
  return [...served.values()]
    .flatMap((datasets) => [...datasets.values()])
    .filter(({ keyForm }) => keyForm === "WEB_ORACLE").length;
}
