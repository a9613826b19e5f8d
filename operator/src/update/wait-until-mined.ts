import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { DataPoint } from "../data-point.js";
import { nullAfterTimeout } from "../null-after-timeout.js";
import { updateReverted } from "../problems.js";
import type { SentUpdate } from "./sent-update.js";
import { storedOrPending } from "./stored-or-pending.js";

/** The longest that anyone waits for a transaction to be mined. */
export const MAX_MINING_WAIT_MS = 60_000;

/**
 * Waits up to `waitMs` until a sent round is mined, and answers with it; else with the transaction on its way.
 *
 * @throws ProblemError when the update reverted and nothing newer is stored.
 */
export async function answerAfter(
  sentUpdate: SentUpdate,
  dataPoint: DataPoint,
  round: bigint,
  waitMs: number,
): Promise<DataAnswer> {
  const mined = waitMs === 0 ? null : await nullAfterTimeout(sentUpdate.mined, waitMs);
  if (mined === null) return sentUpdate.answer;
  if (mined !== "not_stored") return mined;
  // Another relayer's update may have come first.
  const stored = await storedOrPending(dataPoint);
  if (stored.answer.timestamp < Number(round)) throw updateReverted(null);
  return stored.answer;
}
