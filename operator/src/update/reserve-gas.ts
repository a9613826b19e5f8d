import type { DataPoint } from "../data-point.js";
import { FeedGasSpent } from "../gas-budget.js";
import type { Network } from "../network.js";
import { GasBudgetSpent } from "../problems.js";
import type { Context } from "../process-context.js";

/**
 * Reserves gas from the budget that pays for an update: the feeds', the one for new keys, or the one for stored keys.
 *
 * @param payer The caller whose share of the budget pays for it; null for a feed.
 * @returns A function that gives the gas back.
 * @throws ProblemError when the budget or the caller's share of it is spent. FeedGasSpent.
 */
export async function reserveGas(
  context: Context,
  dataPoint: DataPoint,
  gas: bigint,
  payer: string | null,
): Promise<() => void> {
  const { network, dataset, key } = dataPoint;
  if (payer === null) return reserveFeedGas(context, network, gas);
  const isNewKey = !(await network.storedKeys.has(dataset.address, key));
  const reservation = (isNewKey ? network.gasForNewKeys : network.gas).reserve(gas, context.clock(), payer);
  if (reservation.ok) return reservation.release;
  const { isShare, retryAfterSeconds } = reservation;
  throw new GasBudgetSpent(isShare ? payer : null, isNewKey, retryAfterSeconds);
}

/**
 * Reserves gas from the feeds' budget.
 *
 * @returns A function that gives the gas back.
 * @throws FeedGasSpent
 */
export function reserveFeedGas({ clock }: Context, network: Network, gas: bigint): () => void {
  const reservation = network.gasForFeeds.reserve(gas, clock());
  if (!reservation.ok) throw new FeedGasSpent(reservation.retryAfterSeconds);
  return reservation.release;
}
