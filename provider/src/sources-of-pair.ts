import type { RedirectedOrigins } from "@dataset-oracle/service/egress/egress";
import { unlimitedIfRedirected } from "./source/source-request.js";
import type { SpotSource } from "./source/spot-source.js";
import type { PairSource } from "./spot-price.js";

/** Returns the sources that give the price of a pair directly, or a price that can be converted to it. */
export function sourcesOfPair(
  pair: string,
  sources: readonly SpotSource[],
  minSources: number,
  redirectedOrigins: RedirectedOrigins,
): PairSource[] {
  return sources.flatMap(({ name, spec, queries }) => {
    const query = queries.get(pair);
    if (query === undefined) return [];
    const { request, read, rate } = query;
    const source = { name, spec, request: unlimitedIfRedirected(redirectedOrigins, request), read };
    if (rate === null) return { ...source, rate };
    // A rate comes only from sources that give it directly, without a conversion of their own.
    const direct = sources.filter((other) => other.queries.get(rate)?.rate === null);
    if (direct.length < minSources) return [];
    return { ...source, rate: { pair: rate, sources: sourcesOfPair(rate, direct, minSources, redirectedOrigins) } };
  });
}
