import { traceFieldsOf } from "@dataset-oracle/service/http-server/trace";
import type { Hex } from "viem";
import { readStored } from "../chain/stored-values.js";
import type { DataPoint } from "../data-point.js";
import type { Context } from "../process-context.js";
import type { Progress } from "../progress.js";
import type { Job, RoundCall } from "../tx/job.js";
import { sendJob } from "../tx/send-within-gas-budget.js";
import { toDataAnswer } from "./data-answer.js";
import type { SentUpdate } from "./sent-update.js";
import type { Update, UpdateBuilder } from "./update-builder.js";

/**
 * Sends an update from one of the operator's accounts, within the gas budgets. It returns once an RPC endpoint has
 * accepted the transaction.
 *
 * @param payer The caller whose share of the gas budget pays for it; null for a feed.
 * @throws ProblemError when the gas budget is spent, or no RPC endpoint accepts the transaction. FeedGasSpent.
 */
export async function sendUpdate(
  context: Context,
  builder: UpdateBuilder,
  dataPoint: DataPoint,
  update: Update,
  payer: string | null,
  progress: Progress,
): Promise<SentUpdate> {
  const { network, dataset, key } = dataPoint;
  const onSigned = (hash: Hex) => progress.emit({ event: "signed", transaction_hash: hash });
  const job = updateJob(dataPoint, payer, update, () => builder.buildNewest(dataPoint), onSigned);
  const { hash, raw, confirmed } = await sendJob(context, dataPoint, job);
  const { round, status, reports } = update;
  const log = { network: network.chainId, dataset: dataset.address, key, round: round.toString(), transaction: hash };
  context.logger.info({ ...traceFieldsOf(progress.trace), ...log, status, signers: reports.length }, "update sent");
  progress.emit({ event: "sent", transaction_hash: hash });
  const answerOf = (sent: Update, transaction_hash: Hex) => ({ ...toDataAnswer(dataPoint, sent), transaction_hash });
  return {
    answer: answerOf(update, hash),
    raw,
    mined: confirmed.then((transaction) => {
      if (transaction === null) return null;
      const { isReverted, hasEvents, blockNumber, call } = transaction;
      if (isReverted || !hasEvents) return "not_stored";
      progress.emit({ event: "mined", transaction_hash: transaction.hash, block_number: blockNumber });
      return answerOf(call, transaction.hash);
    }),
  };
}

/**
 * Makes the job of one update. If its transaction gets stuck or lost, `renew` builds the next.
 *
 * @param payer The caller that it is for; null for a feed.
 */
export function updateJob<C extends RoundCall>(
  { network, dataset, key, id }: DataPoint,
  payer: string | null,
  call: C,
  renew: () => Promise<C | null>,
  onSigned?: (hash: Hex) => void,
): Job<C> {
  const isStored = async (round: bigint) =>
    (await readStored(network.client, dataset.address, key, "latest")).updatedAt >= round;
  return { dataPointId: id, payer, call, renew, isStored, onSigned };
}
