import type { HistoryAnswer } from "@dataset-oracle/protocol/wire";
import type { DataPointAnswer } from "@dataset-oracle/protocol/wire-data";
import { type Got, get } from "./get";

/** A data point: `key` is in ASCII, or in hex after `0x`. */
export interface PointId {
  readonly networkId: number;
  readonly dataset: string;
  readonly key: string;
}

const toQuery = ({ networkId, dataset, key }: PointId) => ({ network_id: String(networkId), dataset, key });

export const getData = (id: PointId): Promise<Got<DataPointAnswer>> => get("data", toQuery(id));

/** @param blocks `from` and `to` are block numbers, both inclusive. */
export function getHistory(
  id: PointId,
  limit: number,
  blocks: { readonly from?: number; readonly to?: number } = {},
): Promise<Got<HistoryAnswer>> {
  const range = Object.entries(blocks).map(([name, block]) => [name, String(block)]);
  return get("history", { ...toQuery(id), limit: String(limit), ...Object.fromEntries(range) });
}
