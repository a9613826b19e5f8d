import type { Hex } from "viem";
import { MAX_WAIT_MS, storedByAnother } from "../broadcast.js";
import { OutcomeUnknown } from "../chain/lane.js";
import { waitUntilMined } from "../chain/receipt.js";
import { FeedGasSpent } from "../gas-budget.js";
import type { Carried, Operator } from "../operator.js";
import { Progress } from "../progress.js";
import { type Batch, readyBatch } from "./batch.js";

/**
 * Carries a batch to the chain in one transaction, within the feeds' gas budget.
 *
 * @returns What it stored, once it is mined. A key that is not there has to go by itself.
 * @throws FeedGasSpent. ProblemError when it cannot be sent.
 */
export async function carryBatch(operator: Operator, batch: Batch): Promise<ReadonlyMap<Hex, Carried>> {
  const { network, dataset, keys, round } = batch;
  const ready = await readyBatch(operator, batch);
  if (ready === null || network.lane === null) return new Map();
  const { data, gasLimit, stored } = ready;
  const reservation = network.gasForFeeds.reserve(gasLimit, operator.clock());
  if (!reservation.ok) throw new FeedGasSpent(reservation.retryAfterSeconds);

  const call = { to: dataset.address, data, gas: gasLimit };
  const hash = await network.lane.send(call, new Progress()).catch((error: unknown) => {
    // It may still be mined: its gas stays counted.
    if (error instanceof OutcomeUnknown) throw error.reason;
    reservation.release();
    throw error;
  });
  const log = operator.logger.child({ network: network.chainId, dataset: dataset.address, round: round.toString() });
  log.info({ transaction: hash, keys: keys.filter((_, place) => stored[place]) }, "batch sent");
  const mined = await waitUntilMined(network.rpc, hash, MAX_WAIT_MS, operator.closing);
  if (mined === null || mined.isReverted) return new Map();
  const carried = keys.flatMap((key, place) => (stored[place] ? [key] : []));
  return new Map(
    await Promise.all(carried.map(async (key) => [key, await storedByAnother({ network, dataset, key })] as const)),
  );
}
