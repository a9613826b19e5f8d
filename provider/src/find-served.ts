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

/** The dataset and key that a request names, or the first thing about it that is not served here. */
export function findServed(
  served: Served,
  request: ReportRequest,
): ({ readonly ok: true } & FoundKey) | { readonly ok: false; readonly problem: ProblemError } {
  const refuse = (problem: ProblemError) => ({ ok: false, problem }) as const;
  const address = parseAddress(request.dataset);
  if (!address.ok) return refuse(invalidAddress(address.problem));
  const datasets = served.get(request.network_id);
  if (datasets === undefined) return refuse(unknownNetwork(request.network_id, [...served.keys()]));
  const dataset = datasets.get(address.value);
  if (dataset === undefined) return refuse(unknownDataset(address.value, request.network_id));
  const requested = request.key as Hex;
  if (!matchesKeyForm(dataset.keyForm, requested)) return refuse(invalidKey(dataset.keyForm));
  const key = dataset.keys.get(requested);
  return key === undefined ? refuse(unknownKey(requested)) : { ok: true, dataset, key };
}
