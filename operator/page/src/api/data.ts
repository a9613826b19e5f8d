import type { Result } from "@dataset-oracle/protocol/result";
import type { HistoryAnswer } from "@dataset-oracle/protocol/wire";
import type { DataPointAnswer } from "@dataset-oracle/protocol/wire-data";
import { get, type ReadError } from "./get";

/** Identifies a data point. The key is in ASCII, or in hex after `0x`. */
export interface PointId {
  readonly networkId: number;
  readonly dataset: string;
  readonly key: string;
}

const toQuery = ({ networkId, dataset, key }: PointId) => ({ network_id: String(networkId), dataset, key });

export const getData = (id: PointId): Promise<Result<DataPointAnswer, ReadError>> => get("data", toQuery(id));

/** @param blocks The first and the last block, inclusive. */
export function getHistory(
  id: PointId,
  limit: number,
  blocks: { readonly from?: number; readonly to?: number } = {},
): Promise<Result<HistoryAnswer, ReadError>> {
  const range = Object.entries(blocks).map(([name, block]) => [name, String(block)]);
  return get("history", { ...toQuery(id), limit: String(limit), ...Object.fromEntries(range) });
}
