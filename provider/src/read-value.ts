import type { ExplainedValue } from "./explained-value.js";
import { type Asking, readSpotPrice, type SpotPriceKey } from "./spot-price.js";
import { type ExtractWebValues, readWebValue, type WebOracleKey } from "./web-oracle/web-oracle.js";

/** A key whose value the provider can read. */
export type ServedKey = SpotPriceKey | WebOracleKey;

/** Reads a key's value from its sources now. */
export function readValue(key: ServedKey, asking: Asking, extractor: ExtractWebValues): Promise<ExplainedValue> {
  return key.kind === "spot_price" ? readSpotPrice(key.sources, asking) : readWebValue(key, asking, extractor);
}
