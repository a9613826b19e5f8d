import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { withDeadline } from "@dataset-oracle/service/process/context";
import type { Hex } from "viem";
import { UpdateReverted } from "../dataset/contract.js";
import type { Dataset } from "../dataset/dataset.js";
import { readStored } from "../dataset/stored-values.js";
import { findUpdate } from "../dataset/update-events.js";
import { readPending } from "../rpc/rpc-error.js";
import type { CallOutcome } from "../transactions/task.js";
import type { KeyUpdate } from "./builder.js";

/** The longest that anyone waits for a transaction to be mined. */
export const MAX_MINING_WAIT_MS = 60_000;

/** The round of a key that is stored, or is about to be. */
export interface RoundAnswer {
  readonly round: bigint;
  readonly outcome: CallOutcome;
  /** The hash of the transaction that stores it, null where that is not known; or the update for the caller to send. */
  readonly transaction: Hex | KeyUpdate | null;
  /** True if it was stored before anybody asked. */
  readonly isFresh?: true;
}

/** An update that is on its way to the chain, submitted by this operator or by another relayer. */
export interface UpdateInFlight {
  /** Resolves once an RPC endpoint has accepted its transaction; to null if that ends without this round. */
  readonly accepted: Promise<RoundAnswer | null>;
  /** Why no RPC endpoint has said that it accepted it; null once one has, and where nobody has to. */
  readonly unclear: () => unknown;
  /**
   * The mined update, of this round or a newer one; `not_stored` if it reverted, or changed nothing because another
   * relayer's update was mined before it; null when the operator shuts down first, or another relayer submitted it. Rejects
   * when the update is given up.
   */
  readonly mined: Promise<RoundAnswer | "not_stored" | null>;
}

/** The answer from the stored value of a key. The state of the chain does not contain the reports. */
export function storedAnswer({ output: value, status, updatedAt }: QueryResult, transaction: Hex | null): RoundAnswer {
  return { round: updatedAt, outcome: { status, value, reports: [] }, transaction };
}

/** Returns what is stored, or pending and about to be, whoever submitted it. */
export async function storedOrPending(dataset: Dataset, key: Hex): Promise<UpdateInFlight> {
  const stored = await readPending((blockTag) => readStored(dataset, key, blockTag));
  const hash = await findUpdate(dataset, key, stored.updatedAt);
  const accepted = Promise.resolve(storedAnswer(stored, hash));
  return { accepted, unclear: () => null, mined: Promise.resolve(null) };
}

/**
 * Waits up to `waitMs` until a submitted round is mined, and answers with it; else with the transaction on its way.
 *
 * @param acceptMs How long to wait at least until an RPC endpoint has accepted the transaction.
 * @returns Null when no endpoint has accepted it by then.
 * @throws UpdateReverted when it reverted and nothing newer is stored.
 */
export async function answerAfter(
  { accepted, mined: untilMined }: UpdateInFlight,
  dataset: Dataset,
  key: Hex,
  round: bigint,
  waitMs: number,
  acceptMs: number,
  closing: AbortSignal,
): Promise<RoundAnswer | null> {
  const mined = waitMs === 0 ? null : await nullAfterTimeout(untilMined, waitMs, closing);
  if (mined === null) return nullAfterTimeout(accepted, Math.max(0, acceptMs - waitMs), closing);
  if (mined !== "not_stored") return mined;
  // Another relayer's update may have come first.
  const stored = await (await storedOrPending(dataset, key)).accepted;
  if (stored === null || stored.round < round) throw new UpdateReverted(null);
  return stored;
}

/** Returns null when the promise takes longer than `waitMs`, or the operator shuts down. The work behind it goes on. */
export function nullAfterTimeout<T>(
  promise: Promise<T | null>,
  waitMs: number,
  closing: AbortSignal,
): Promise<T | null> {
  return withDeadline(waitMs, closing, (signal) => {
    const over = new Promise<null>((resolve) => {
      if (signal.aborted) resolve(null);
      signal.addEventListener("abort", () => resolve(null));
    });
    return Promise.race([promise, over]);
  });
}
