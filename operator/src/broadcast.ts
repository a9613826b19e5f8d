import { toAnswer } from "./answer.js";
import { findUpdate, readPoint } from "./chain/contract.js";
import { OutcomeUnknown } from "./chain/lane.js";
import { type Mined, waitUntilMined } from "./chain/receipt.js";
import { FeedGasSpent } from "./gas-budget.js";
import type { Carried, Operator, ReadyUpdate } from "./operator.js";
import { gasBudgetSpent, noSigner } from "./problems.js";
import type { Progress } from "./progress.js";
import type { Target } from "./target.js";

/** The longest that anyone waits until a transaction is mined. */
export const MAX_WAIT_MS = 60_000;

/** Whose gas budget pays for an update. */
export type Payer = "request" | "feed";

/**
 * Sends an update from the operator's account, within the gas budget.
 *
 * @throws ProblemError when the budget is spent, or the RPC does not take the transaction. FeedGasSpent.
 */
export async function broadcast(
  operator: Operator,
  target: Target,
  update: ReadyUpdate,
  payer: Payer,
  progress: Progress,
): Promise<Carried> {
  const { network, dataset, key } = target;
  if (network.lane === null) throw noSigner(network.chainId);
  const reservation = await reserveGas(operator, target, update.gasLimit, payer);

  const log = operator.logger.child({
    network: network.chainId,
    dataset: dataset.address,
    key,
    round: update.timestamp.toString(),
  });
  const call = { to: dataset.address, data: update.data, gas: update.gasLimit };
  const hash = await network.lane.send(call, progress).catch((error: unknown) => {
    // It may still be mined: its gas stays counted.
    if (error instanceof OutcomeUnknown) throw error.reason;
    reservation.release();
    throw error;
  });
  log.info({ transaction: hash, status: update.status, signers: update.reports.length }, "update sent");
  const whenMined = once(async () => {
    const mined = await waitUntilMined(network.rpc, hash, MAX_WAIT_MS, operator.closing);
    if (mined?.isReverted === false) {
      progress.emit({ event: "mined", data: { transaction_hash: hash, block_number: mined.blockNumber } });
    }
    return mined;
  });
  return {
    answer: { ...toAnswer(target, update), transaction_hash: hash },
    mined: (waitMs) => (waitMs === 0 ? Promise.resolve(null) : withinTime(whenMined(), waitMs)),
  };
}

async function reserveGas(operator: Operator, { network, dataset, key }: Target, gas: bigint, payer: Payer) {
  const now = operator.clock();
  if (payer === "feed") {
    const reservation = network.gasForFeeds.reserve(gas, now);
    if (!reservation.ok) throw new FeedGasSpent(reservation.retryAfterSeconds);
    return reservation;
  }
  const isNewKey = (await readPoint(network.rpc, dataset.address, key, "pending")).updatedAt === 0n;
  const reservation = (isNewKey ? network.gasForNewKeys : network.gas).reserve(gas, now);
  if (!reservation.ok) throw gasBudgetSpent(isNewKey, reservation.retryAfterSeconds);
  return reservation;
}

/** The answer when another carrier has stored this round or a newer one: what is stored. */
export async function storedByAnother(target: Target): Promise<Carried> {
  const { network, dataset, key } = target;
  const { value, status, updatedAt } = await readPoint(network.rpc, dataset.address, key, "pending");
  const hash = await findUpdate(network.rpc, dataset.address, key, updatedAt).catch(() => null);
  // The reports behind it are the other carrier's.
  const answer = toAnswer(target, { value, status, timestamp: updatedAt, reports: [] });
  return { answer: { ...answer, transaction_hash: hash }, mined: () => Promise.resolve(null) };
}

function once<T>(start: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= start();
    return result;
  };
}

/** Null when the wait takes longer; what is waited for goes on. */
async function withinTime(mined: Promise<Mined | null>, waitMs: number): Promise<Mined | null> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), waitMs);
  });
  try {
    return await Promise.race([mined, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
