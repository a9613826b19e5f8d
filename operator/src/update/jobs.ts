import { decodeUpdateCall } from "@dataset-oracle/protocol/decode-update-call";
import type { Hex } from "viem";
import type { Dataset } from "../dataset/dataset.js";
import { readManyStored, readStored } from "../dataset/stored-values.js";
import type { Call, Job, RoundCall } from "../transactions/job.js";
import { type BatchUpdate, expiryOf, type UpdateBuilder } from "./builder.js";

const dataPointIdOf = ({ address }: Dataset, keys: readonly Hex[]) => `${address} ${keys.join(" ")}`;

/** Returns the keys that a job is about; none for a job of another dataset. */
export function keysOfDataPointId({ address }: Dataset, dataPointId: string): readonly Hex[] {
  const [of, ...keys] = dataPointId.split(" ");
  return of === address ? (keys as Hex[]) : [];
}

/**
 * Makes the job of one update. If its transaction gets stuck or lost, `renew` builds the next.
 *
 * @param payer The caller that it is for; null for a feed.
 */
export function updateJob<C extends RoundCall>(
  dataset: Dataset,
  key: Hex,
  payer: string | null,
  call: C,
  renew: () => Promise<C | null>,
  onSigned?: (hash: Hex) => void,
): Job<C> {
  const isStored = async (round: bigint) => (await readStored(dataset, key, "latest")).updatedAt >= round;
  return { dataPointId: dataPointIdOf(dataset, [key]), payer, call, renew, isStored, onSigned };
}

/** Makes the job of a batch. If its transaction gets stuck or lost, the newest round of its keys replaces it. */
export function batchJob(
  dataset: Dataset,
  keys: readonly Hex[],
  call: BatchUpdate,
  builder: UpdateBuilder,
): Job<BatchUpdate> {
  return {
    dataPointId: dataPointIdOf(dataset, keys),
    payer: null,
    call,
    renew: () => builder.buildNewestBatch(keys),
    isStored: async (round) => {
      const stored = await readManyStored(dataset, keys, "latest");
      return [...stored.values()].every(({ updatedAt }) => updatedAt >= round);
    },
  };
}

/**
 * Finds the job behind a pending transaction to a dataset that an earlier process submitted.
 *
 * @returns Null for a transaction that is no update, or whose keys are not known.
 */
export function recoverJob(dataset: Dataset, builder: UpdateBuilder, call: Call): Job<RoundCall> | null {
  const pending = decodeUpdateCall(call.data);
  if (pending === null) return null;
  const { round } = pending;
  const roundCall = { ...call, round, expiresAt: expiryOf(round, dataset.maxRoundAge) };
  if (pending.kind === "batch") {
    const keys = dataset.keys.ofHashes(pending.keyHashes);
    if (keys === null || keys.length === 0) return null;
    // No caller waits for this batch, so nobody needs to know which keys it stores.
    return batchJob(dataset, keys, { ...roundCall, isStored: [] }, builder);
  }
  const { key } = pending;
  return updateJob<RoundCall>(dataset, key, null, roundCall, () => builder.buildNewest(key));
}
