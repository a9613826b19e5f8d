import type { DataAnswer } from "@dataset-oracle/protocol/wire";
import { findUpdate, readPoint } from "../chain/dataset.js";
import { type DataPoint, workId } from "../data-point.js";
import type { Operator } from "../operator.js";
import { toAnswer } from "./answer.js";

/**
 * What is stored of a key, if it is a value so young that no transaction is needed: with the transaction that stored it.
 *
 * @param round The round that a request names now, in seconds since 1970.
 * @returns Null when it is too old, not OK, not found, or the network asks for none.
 */
export function freshAnswer(operator: Operator, dataPoint: DataPoint, round: bigint): Promise<DataAnswer | null> {
  const { client, minUpdateAgeSeconds } = dataPoint.network;
  if (minUpdateAgeSeconds === 0) return Promise.resolve(null);
  const find = async (): Promise<DataAnswer | null> => {
    const { address } = dataPoint.dataset;
    const { value, status, updatedAt } = await readPoint(client, address, dataPoint.key, "latest");
    if (status !== "OK" || operator.clock() >= (Number(updatedAt) + minUpdateAgeSeconds) * 1000) return null;
    const hash = await findUpdate(client, address, dataPoint.key, updatedAt);
    if (hash === null) return null;
    // The reports behind it may be another carrier's.
    const answer = toAnswer(dataPoint, { value, status, timestamp: updatedAt, reports: [] });
    return { ...answer, transaction_hash: hash, fresh: true };
  };
  return operator.fresh.run(workId(dataPoint, round), find).result;
}
