import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { DataAnswer } from "@dataset-oracle/protocol/http-schemas/data-request";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { withDeadline } from "@dataset-oracle/service/process/context";
import { type Hex, numberToHex } from "viem";
import { UpdateReverted } from "../dataset/contract.js";
import type { Dataset } from "../dataset/dataset.js";
import { readStored } from "../dataset/stored-values.js";
import { findUpdate } from "../dataset/update-events.js";
import { readPending } from "../rpc/rpc-error.js";
import type { CallOutcome } from "../transactions/task.js";
import type { KeyUpdate } from "./builder.js";

/** The longest that anyone waits for a transaction to be mined. */
export const MAX_MINING_WAIT_MS = 60_000;

/** An update that is on its way to the chain, submitted by this operator or by another relayer. */
export interface UpdateInFlight {
  /** Resolves once an RPC endpoint has accepted its transaction; to null if that ends without this round. */
  readonly accepted: Promise<DataAnswer | null>;
  /** Why no RPC endpoint has said that it accepted it; null once one has, and where nobody has to. */
  readonly unclear: () => unknown;
  /**
   * The mined update, of this round or a newer one; `not_stored` if it reverted, or changed nothing because another
   * relayer's update was mined before it; null when the operator shuts down first, or another relayer submitted it. Rejects
   * when the update is given up.
   */
  readonly mined: Promise<DataAnswer | "not_stored" | null>;
}

/** Makes the answer to a data request, without the transaction or its hash. */
export function toDataAnswer(
  { chainId, address, kind }: Dataset,
  key: Hex,
  round: bigint,
  { status, value, reports }: CallOutcome,
): DataAnswer {
  return {
    network_id: chainId,
    dataset: address,
    key: keyToAscii(key),
    key_hex: key,
    status,
    value: formatValue(kind, status === "OK" ? value : ZERO_VALUE),
    timestamp: Number(round),
    reports: reports.map(({ provider, value, signature, reason }) => {
      return { provider, value: formatValue(kind, value), signature, ...(reason !== undefined && { reason }) };
    }),
  };
}

/** Formats an update for the caller's contract, and its call for the caller to send: as nodes take it, and as libraries do. */
export function toUnsent(
  chainId: number,
  { packed, call: { to, data, gas } }: KeyUpdate,
): Required<Pick<DataAnswer, "update" | "transaction" | "transaction_request">> {
  const [hex, number] = [numberToHex(gas), Number(gas)];
  return {
    update: packed,
    transaction: { chainId: numberToHex(chainId), to, data, gas: hex, gasLimit: hex },
    transaction_request: { chainId, to, data, gas: number, gasLimit: number },
  };
}

/** Makes the answer from the stored value of a key. The state of the chain does not contain the reports. */
export function toStoredAnswer(
  dataset: Dataset,
  key: Hex,
  { output, status, updatedAt }: QueryResult,
  transaction_hash: Hex | null,
): DataAnswer {
  return { ...toDataAnswer(dataset, key, updatedAt, { value: output, status, reports: [] }), transaction_hash };
}

/** Returns what is stored, or pending and about to be, whoever submitted it. */
export async function storedOrPending(dataset: Dataset, key: Hex): Promise<UpdateInFlight> {
  const stored = await readPending((blockTag) => readStored(dataset, key, blockTag));
  const hash = await findUpdate(dataset, key, stored.updatedAt);
  const accepted = Promise.resolve(toStoredAnswer(dataset, key, stored, hash));
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
): Promise<DataAnswer | null> {
  const mined = waitMs === 0 ? null : await nullAfterTimeout(untilMined, waitMs, closing);
  if (mined === null) return nullAfterTimeout(accepted, Math.max(0, acceptMs - waitMs), closing);
  if (mined !== "not_stored") return mined;
  // Another relayer's update may have come first.
  const stored = await (await storedOrPending(dataset, key)).accepted;
  if (stored === null || stored.timestamp < Number(round)) throw new UpdateReverted(null);
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
