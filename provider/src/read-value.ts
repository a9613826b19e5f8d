import type { ValueWithSources } from "./combined-value.js";
import type { ServedKey } from "./served-keys.js";
import { type ReadContext, readSpotPrice } from "./spot-price.js";
import type { WebValueExtractor } from "./web-oracle/extract-values.js";
import { readWebOracleValue } from "./web-oracle/read-web-oracle-value.js";

/** Reads a key's value from its sources now. */
export function readValue(
  key: ServedKey,
  context: ReadContext,
  extractor: WebValueExtractor,
): Promise<ValueWithSources> {
  return key.kind === "spot_price" ? readSpotPrice(key.sources, context) : readWebOracleValue(key, context, extractor);
}
