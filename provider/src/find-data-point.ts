import { parseAddress } from "@dataset-oracle/protocol/address";
import { matchesKeyForm } from "@dataset-oracle/protocol/key";
import type { ReportRequest } from "@dataset-oracle/protocol/wire";
import { ProblemError } from "@dataset-oracle/service/problem";
import type { Address, Hex } from "viem";
import { invalidAddress, invalidKey, unknownDataset, unknownKey, unknownNetwork } from "./problems.js";
import type { Served, ServedDataset, ServedKey } from "./served.js";
import type { WebOracleKey } from "./web-oracle/web-oracle.js";

/** Finds a Web Oracle key, or says why it is not served; null where none is. */
export type WebKeyFinder = ((dataset: ServedDataset, key: Hex) => Promise<WebOracleKey | ProblemError>) | null;

export interface FoundKey {
  readonly dataset: ServedDataset;
  readonly key: ServedKey | WebOracleKey;
  /** Names it among all that are served. */
  readonly dataPoint: string;
}

export type Found<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly problem: ProblemError };

const refuse = (problem: ProblemError) => ({ ok: false, problem }) as const;

/** The dataset and key that a request names, or the first thing about it that is not served here. */
export async function findServed(
  served: Served,
  request: ReportRequest,
  finder: WebKeyFinder,
): Promise<Found<FoundKey>> {
  const found = findDataset(served, request);
  return found.ok ? findKey(found.dataset, request.key, finder) : found;
}

/** The dataset that a request names. */
export function findDataset(
  served: Served,
  request: Pick<ReportRequest, "network_id" | "dataset">,
): Found<{ readonly dataset: ServedDataset }> {
  const datasets = served.get(request.network_id);
  const named = datasets?.get(request.dataset as Address);
  if (named !== undefined) return { ok: true, dataset: named };
  const address = parseAddress(request.dataset);
  if (!address.ok) return refuse(invalidAddress(address.error));
  if (datasets === undefined) return refuse(unknownNetwork(request.network_id, [...served.keys()]));
  const dataset = datasets.get(address.value);
  return dataset === undefined ? refuse(unknownDataset(address.value, request.network_id)) : { ok: true, dataset };
}

/** @param key In lower-case hex. */
export async function findKey(dataset: ServedDataset, key: string, finder: WebKeyFinder): Promise<Found<FoundKey>> {
  const dataPoint = `${dataset.chainId}/${dataset.address}/${key}`;
  const served = dataset.keys.get(key as Hex);
  if (served !== undefined) return { ok: true, dataset, key: served, dataPoint };
  if (!matchesKeyForm(dataset.keyForm, key as Hex)) return refuse(invalidKey(dataset.keyForm));
  if (dataset.keyForm !== "WEB_ORACLE" || finder === null) return refuse(unknownKey(key));
  const web = await finder(dataset, key as Hex);
  return web instanceof ProblemError ? refuse(web) : { ok: true, dataset, key: web, dataPoint };
}
