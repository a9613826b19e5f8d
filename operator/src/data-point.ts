import { parseAddress } from "@dataset-oracle/protocol/address";
import { matchesKeyForm, parseKey } from "@dataset-oracle/protocol/key";
import type { ReportHeader } from "@dataset-oracle/protocol/report";
import type { DataRequest } from "@dataset-oracle/protocol/wire";
import type { Hex } from "viem";
import type { Dataset, Network } from "./network.js";
import { invalidKey, invalidProperty, noSigner, unknownDataset, unknownNetwork } from "./problems.js";

/** A data point: a network, a dataset, a key. */
export interface DataPoint {
  readonly network: Network;
  readonly dataset: Dataset;
  /** Lower-case hex. */
  readonly key: Hex;
  readonly id: string;
}

export function dataPointOf(network: Network, dataset: Dataset, key: Hex): DataPoint {
  return { network, dataset, key, id: `${network.chainId} ${dataset.address} ${key}` };
}

/**
 * Finds what a request names among what is served. It asks neither chain nor provider, so that a stranger's contract or
 * key costs nothing.
 *
 * @throws ProblemError: 400, 404 or 422.
 */
export function findDataPoint(networks: ReadonlyMap<number, Network>, body: DataRequest): DataPoint {
  const address = parseAddress(body.dataset);
  if (!address.ok) throw invalidProperty("dataset", address.error);
  const key = parseKey(body.key);
  if (!key.ok) throw invalidProperty("key", key.error);

  const network = networks.get(body.network_id);
  if (network === undefined) throw unknownNetwork(body.network_id, [...networks.keys()]);
  const dataset = network.datasets.get(address.value);
  if (dataset === undefined) throw unknownDataset(address.value, body.network_id);
  if (!matchesKeyForm(dataset.keyForm, key.value)) throw invalidKey(dataset.keyForm);
  if (body.broadcast && network.senders === null) throw noSigner(body.network_id);
  return dataPointOf(network, dataset, key.value);
}

/** One piece of work: a data point at a round. */
export function workId(dataPoint: DataPoint, round: bigint): string {
  return `${dataPoint.id} ${round}`;
}

/** Returns the header of a report about a data point at a round. */
export function reportHeaderOf({ network, dataset, key }: DataPoint, round: bigint): ReportHeader {
  return { chainId: network.chainId, dataset: dataset.address, key, round };
}
