import { formatUnits } from "viem";

/** Spot prices are scaled by ten to this power. */
export const SPOT_PRICE_DECIMALS = 18;

/**
 * Formats a spot price in units of the quote currency, as an exact decimal: `"3021.5"`.
 *
 * @param value The rate scaled by 1e18, as `simulateQuery` and `requestUpdate` return it.
 */
export function formatSpotPrice(value: bigint): string {
  return formatUnits(value, SPOT_PRICE_DECIMALS);
}
