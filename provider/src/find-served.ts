import { parseAddress } from "@dataset-oracle/protocol/address";
import { matchesKeyForm } from "@dataset-oracle/protocol/key";
import type { ReportRequest } from "@dataset-oracle/protocol/wire";
import type { ProblemError } from "@dataset-oracle/service/problem";
import type { Hex } from "viem";
import { invalidAddress, invalidKey, unknownDataset, unknownKey, unknownNetwork } from "./problems.js";
import type { Served, ServedDataset, ServedKey } from "./served.js";

export interface FoundKey {
  readonly dataset: ServedDataset;
  readonly key: ServedKey;
}

export type Found<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly problem: ProblemError };

const refuse = (problem: ProblemError) => ({ ok: false, problem }) as const;

/** The dataset and key that a request names, or the first thing about it that is not served here. */
export function findServed(served: Served, request: ReportRequest): Found<FoundKey> {
  const found = findDataset(served, request);
  return found.ok ? findKey(found.dataset, request.key) : found;
}

/** The dataset that a request names. */
export function findDataset(
  served: Served,
  request: Pick<ReportRequest, "network_id" | "dataset">,
): Found<{ readonly dataset: ServedDataset }> {
  const address = parseAddress(request.dataset);
  if (!address.ok) return refuse(invalidAddress(address.problem));
  const datasets = served.get(request.network_id);
  if (datasets === undefined) return refuse(unknownNetwork(request.network_id, [...served.keys()]));
  const dataset = datasets.get(address.value);
  return dataset === undefined ? refuse(unknownDataset(address.value, request.network_id)) : { ok: true, dataset };
}

/** @param key In lower-case hex. */
export function findKey(dataset: ServedDataset, key: string): Found<FoundKey> {
  if (!matchesKeyForm(dataset.keyForm, key as Hex)) return refuse(invalidKey(dataset.keyForm));
  const found = dataset.keys.get(key as Hex);
  return found === undefined ? refuse(unknownKey(key)) : { ok: true, dataset, key: found };
}
