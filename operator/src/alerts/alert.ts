import type { QueryResult } from "@dataset-oracle/protocol/client/query-result";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import { sha256 } from "@dataset-oracle/service/crypto/sha256";
import type { DataPoint } from "../data-point.js";
import type { AlertReason } from "./alert-reason.js";

/** A change of a feed that its users should know about. It is the body of a webhook's request. */
export interface Alert {
  /** The same on all nodes that see the event at the same stored round. */
  readonly id: string;
  readonly event: AlertReason | "recovered";
  /** One sentence. */
  readonly title: string;
  readonly network_id: number;
  readonly dataset: string;
  /** In ASCII; null if it is not printable. */
  readonly key: string | null;
  readonly key_hex: string;
  /** The stored value, with its round in seconds since 1970; 0 if it was never stored. */
  readonly status: string;
  readonly value: string;
  readonly timestamp: number;
  /** When it was noticed, in seconds since 1970. */
  readonly time: number;
}

const WORDS: Readonly<Record<Alert["event"], string>> = {
  stale: "is stale: it has not been updated for more than one and a half heartbeats",
  disagreement: "has no value: the data providers disagree",
  no_value: "has no value: the data providers have none",
  recovered: "has recovered",
};
const NEVER_STORED = "is stale: it has never been stored";

/** @param now Seconds since 1970. */
export function alertOf(dataPoint: DataPoint, stored: QueryResult, event: Alert["event"], now: number): Alert {
  const { network, dataset, key } = dataPoint;
  const ascii = keyToAscii(key);
  const timestamp = Number(stored.updatedAt);
  return {
    id: uuidOf(`${dataPoint.id} ${event} ${timestamp}`),
    event,
    title: `${ascii ?? key} ${event === "stale" && timestamp === 0 ? NEVER_STORED : WORDS[event]}.`,
    network_id: network.chainId,
    dataset: dataset.address,
    key: ascii,
    key_hex: key,
    status: stored.status,
    value: formatValue(dataset.kind, stored.output),
    timestamp,
    time: now,
  };
}

/** Returns a UUID of version 8 (RFC 9562), made of a hash of the text. */
function uuidOf(text: string): string {
  const hex = sha256(text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
