import type { DataPoint } from "../data-point.js";
import { FeedGasSpent } from "../gas-budget.js";
import { GasBudgetSpent } from "../problems.js";
import type { Context } from "../process-context.js";
import { chooseQueue } from "./choose-queue.js";
import { type Job, type RoundCall, type Sent, SubmissionUnknown } from "./job.js";

type KeyOfDataset = Pick<DataPoint, "network" | "dataset" | "key">;

/**
 * Sends a job from one of the operator's accounts, within the gas budget that pays for it. It returns once an RPC endpoint
 * has accepted the transaction, and gives the gas back if nothing was sent.
 *
 * @param about The data point of the job, or the first one of a batch.
 * @throws ProblemError when the operator sends nothing on the network, or the budget or the payer's share of it is spent.
 * FeedGasSpent. The queue's error; a transaction whose outcome is unknown may still be mined, so its gas stays reserved.
 */
export async function sendJob<C extends RoundCall>(
  context: Context,
  about: KeyOfDataset,
  job: Job<C>,
): Promise<Sent<C>> {
  const queue = chooseQueue(about.network, about.dataset.address, about.key);
  const release = await reserveGas(context, about, job);
  try {
    return await queue.send(job);
  } catch (error) {
    if (error instanceof SubmissionUnknown) throw error.reason;
    release();
    throw error;
  }
}

/**
 * Reserves gas from the budget that pays for a job: the feeds', the one for new keys, or the one for stored keys.
 *
 * @returns A function that gives the gas back.
 */
async function reserveGas(
  { clock }: Context,
  { network, dataset, key }: KeyOfDataset,
  { payer, call }: Pick<Job<RoundCall>, "payer" | "call">,
): Promise<() => void> {
  if (payer === null) {
    const reservation = network.gasForFeeds.reserve(call.gas, clock());
    if (!reservation.ok) throw new FeedGasSpent(reservation.retryAfterSeconds);
    return reservation.release;
  }
  const isNewKey = !(await network.storedKeys.has(dataset.address, key));
  const reservation = (isNewKey ? network.gasForNewKeys : network.gas).reserve(call.gas, clock(), payer);
  if (reservation.ok) return reservation.release;
  const { isShareSpent, retryAfterSeconds } = reservation;
  throw new GasBudgetSpent(isShareSpent ? payer : null, isNewKey, retryAfterSeconds);
}
