import { decodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import type { Hex } from "viem";
import type { Dataset } from "../dataset/dataset.js";
import { readManyStored } from "../dataset/stored-values.js";
import type { Call, Job, RoundCall } from "../transactions/job.js";
import { expiryOf, type UpdateBuilder } from "./builder.js";

const dataPointIdOf = ({ address }: Dataset, keys: readonly Hex[]) => `${address} ${keys.join(" ")}`;

/** Returns the keys that a job is about; none for a job of another dataset. */
export function keysOfDataPointId({ address }: Dataset, dataPointId: string): readonly Hex[] {
  const [of, ...keys] = dataPointId.split(" ");
  return of === address ? (keys as Hex[]) : [];
}

/**
 * Makes the job of an update of one key or more. If its transaction gets stuck or lost, `renew` builds the next.
 *
 * @param payer The caller that it is for; null for a feed.
 */
export function updateJob<C extends RoundCall>(
  dataset: Dataset,
  keys: readonly Hex[],
  payer: string | null,
  call: C,
  renew: () => Promise<C | null>,
  onSigned?: (hash: Hex) => void,
): Job<C> {
  const isStored = async (round: bigint) => {
    const stored = await readManyStored(dataset, keys, "latest");
    return [...stored.values()].every(({ updatedAt }) => updatedAt >= round);
  };
  return { dataPointId: dataPointIdOf(dataset, keys), payer, call, renew, isStored, onSigned };
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
    return updateJob<RoundCall>(dataset, keys, null, roundCall, () => builder.buildNewestBatch(keys));
  }
  const { key } = pending;
  return updateJob<RoundCall>(dataset, [key], null, roundCall, () => builder.buildNewest(key));
}
