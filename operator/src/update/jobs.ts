import { decodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import type { Hex } from "viem";
import type { Dataset } from "../dataset/dataset.js";
import { readManyStored } from "../dataset/stored-values.js";
import type { Call, Job, RoundCall } from "../transactions/job.js";
import { expiryOf } from "./builder.js";

const dataPointIdOf = ({ address }: Dataset, keys: readonly Hex[]) => `${address} ${keys.join(" ")}`;

/** Returns the keys that a job is about; none for a job of another dataset. */
export function keysOfDataPointId({ address }: Dataset, dataPointId: string): readonly Hex[] {
  const [of, ...keys] = dataPointId.split(" ");
  return of === address ? (keys as Hex[]) : [];
}

/** Makes the job of an update of one key or more, with what its caller adds. */
export function updateJob<C extends RoundCall>(
  dataset: Dataset,
  keys: readonly Hex[],
  job: Omit<Job<C>, "dataPointId" | "isStored">,
): Job<C> {
  const isStored = async (round: bigint) => {
    const stored = await readManyStored(dataset, keys, "latest");
    return [...stored.values()].every(({ updatedAt }) => updatedAt >= round);
  };
  return { ...job, dataPointId: dataPointIdOf(dataset, keys), isStored };
}

/**
 * Decodes a pending transaction to a dataset that an earlier process submitted.
 *
 * @returns Null for a transaction that is no update, or whose keys are not known.
 */
export function decodePending(
  dataset: Dataset,
  call: Call,
): { readonly keys: readonly Hex[]; readonly call: RoundCall } | null {
  const pending = decodeUpdateCall(call.data);
  if (pending === null) return null;
  const { round } = pending;
  const keys = pending.kind === "batch" ? dataset.keys.ofHashes(pending.keyHashes) : [pending.key];
  if (keys === null || keys.length === 0) return null;
  return { keys, call: { ...call, round, expiresAt: expiryOf(round, dataset.maxRoundAge) } };
}
