import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import type { Hex } from "viem";
import { readManyStored, readStored } from "../chain/stored-values.js";
import { findUpdates } from "../chain/update-events.js";
import { type DataPoint, dataPointOf } from "../data-point.js";
import type { Batch } from "./batch.js";
import { toDataAnswer } from "./data-answer.js";
import type { SentUpdate } from "./sent-update.js";

/** Returns what is stored, or pending and about to be, whoever sent it. */
export async function storedOrPending(dataPoint: DataPoint): Promise<SentUpdate> {
  const { network, dataset, key } = dataPoint;
  const stored = await readStored(network.client, dataset.address, key, "pending");
  const hashes = await findHashes(dataPoint, new Map([[key, stored.updatedAt]]));
  return toSentUpdate(dataPoint, stored, hashes.get(key));
}

type Keys = Pick<Batch, "network" | "dataset" | "keys">;

/** Does the same for several keys of a dataset, with as few calls as for one. Returns the updates by key. */
export async function allStoredOrPending({ network, dataset, keys }: Keys): Promise<ReadonlyMap<Hex, SentUpdate>> {
  const points = await readManyStored(network.client, dataset.address, keys, "pending");
  const stored = points.map((point, index) => ({ key: keys[index] ?? "0x", point }));
  const rounds = new Map(stored.map(({ key, point }) => [key, point.updatedAt]));
  const hashes = await findHashes({ network, dataset }, rounds);
  const updates = stored.map(({ key, point }) => {
    return [key, toSentUpdate(dataPointOf(network, dataset, key), point, hashes.get(key))] as const;
  });
  return new Map(updates);
}

/** Finds the transactions that stored rounds, by key. An answer can do without them. */
function findHashes({ network, dataset }: Omit<Keys, "keys">, rounds: ReadonlyMap<Hex, bigint>) {
  return findUpdates(network.client, dataset.address, rounds).catch((): ReadonlyMap<Hex, Hex> => new Map());
}

function toSentUpdate(
  dataPoint: DataPoint,
  { output, status, updatedAt }: QueryResult,
  hash: Hex | undefined,
): SentUpdate {
  // The state of the chain does not contain the reports.
  const answer = toDataAnswer(dataPoint, { value: output, status, round: updatedAt, reports: [] });
  return { answer: { ...answer, transaction_hash: hash ?? null }, raw: null, mined: Promise.resolve(null) };
}
