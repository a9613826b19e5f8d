import type { Served } from "./served.js";
import type { SourceOverrides } from "./source-overrides.js";

/** What a provider's owner should see when it starts. */
export function startNotes(served: Served, overrides: SourceOverrides): string[] {
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
  return [...redirected, ...unserved];
}

/** One sentence: who serves how much. */
export function summary(served: Served, provider: string): string {
  const networks = [...served].map(([chainId, datasets]) => {
    const keys = [...datasets.values()].reduce((sum, dataset) => sum + dataset.keys.size, 0);
    return `network ${chainId}: ${keys} keys of ${datasets.size} datasets`;
  });
  return `Provider ${provider} serves ${networks.join("; ")}.`;
}
