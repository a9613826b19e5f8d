import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import type { Hex } from "viem";
import type { DataPoint } from "../data-point.js";
import { nullAfterTimeout } from "../null-after-timeout.js";
import { updateReverted } from "../problems.js";
import { storedOrPending } from "./stored-or-pending.js";

/** The longest that anyone waits for a transaction to be mined. */
export const MAX_MINING_WAIT_MS = 60_000;

/** An update that is on its way to the chain, sent by this operator, by another node for it, or by another relayer. */
export interface SentUpdate {
  readonly answer: DataAnswer;
  /** The signed transaction; null when another relayer sent it, or when it is part of a batch. */
  readonly raw: Hex | null;
  /**
   * The mined update, of this round or a newer one; `not_stored` if it reverted, or changed nothing because another
   * relayer's update was mined before it; null when none is mined, when another relayer sent it, or when it is part of
   * a batch.
   */
  readonly mined: Promise<DataAnswer | "not_stored" | null>;
}

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
