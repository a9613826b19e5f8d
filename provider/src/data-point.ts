import { parseAddress } from "@dataset-oracle/protocol/address";
import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import type { ReportRequest } from "@dataset-oracle/protocol/http-schemas/reports";
import { matchesKeyForm } from "@dataset-oracle/protocol/key-form";
import { type Trace, traceFieldsOf } from "@dataset-oracle/service/http-server/trace";
import type { Address, Hex } from "viem";
import type { Caller } from "./caller.js";
import { invalidAddress, invalidKey, unknownDataset, unknownKey, unknownNetwork } from "./problems.js";
import type { Served, ServedDataset, ServedKey } from "./served-keys.js";
import type { WebOracleKeyFinder } from "./web-oracle/web-oracle-key-finder.js";

/** A key of a dataset on a network. */
export interface DataPoint {
  /** Unique among all data points. */
  readonly id: string;
  readonly dataset: ServedDataset;
  readonly key: ServedKey;
}

/**
 * Finds the dataset that a request names.
 *
 * @throws ProblemError when it is not served.
 */
export function findDataset(served: Served, request: Pick<ReportRequest, "network_id" | "dataset">): ServedDataset {
  const datasets = served.get(request.network_id);
  const exact = datasets?.get(request.dataset as Address);
  if (exact !== undefined) return exact;
  const address = parseAddress(request.dataset);
  if (!address.ok) throw invalidAddress(address.error);
  if (datasets === undefined) throw unknownNetwork(request.network_id, [...served.keys()]);
  const dataset = datasets.get(address.value);
  if (dataset === undefined) throw unknownDataset(address.value, request.network_id);
  return dataset;
}

/**
 * Finds a key of a dataset.
 *
 * @param key In lower-case hex.
 * @param webOracleKeys Null when the Web Oracle's keys are not served.
 * @throws ProblemError when the key is not served.
 */
export async function findDataPoint(
  dataset: ServedDataset,
  key: string,
  webOracleKeys: Pick<WebOracleKeyFinder, "find"> | null,
  caller: Caller,
): Promise<DataPoint> {
  const id = `${dataset.chainId}/${dataset.address}/${key}`;
  const served = dataset.keys.get(key as Hex);
  if (served !== undefined) return { id, dataset, key: served };
  if (!matchesKeyForm(dataset.keyForm, key as Hex)) throw invalidKey(dataset.keyForm);
  if (dataset.keyForm !== "WEB_ORACLE" || webOracleKeys === null) {
    const name = keyToAscii(key as Hex) ?? key;
    throw unknownKey(name, unservedReason(dataset, name));
  }
  return { id, dataset, key: await webOracleKeys.find(dataset, key as Hex, caller) };
}

function unservedReason({ keyForm, kind, unservedKeys }: ServedDataset, name: string) {
  if (keyForm === "WEB_ORACLE") return "web_oracle_off";
  if (kind === "majority") return "needs_median";
  return unservedKeys.includes(name) ? "too_few_sources" : "not_listed";
}

/** Returns the fields of every log line about a data point at a round. */
export const dataPointLogFields = ({ dataset, key }: DataPoint, round: bigint, trace: Trace | null) => ({
  ...traceFieldsOf(trace),
  network: dataset.chainId,
  key: key.name,
  round: Number(round),
});
