import { parseAddress } from "@dataset-oracle/protocol/address";
import { parseKey } from "@dataset-oracle/protocol/dataset-key";
import type { DataRequest } from "@dataset-oracle/protocol/http-schemas/data-request";
import { matchesKeyForm } from "@dataset-oracle/protocol/key-form";
import type { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { LRUCache } from "lru-cache";
import { type DataPoint, dataPointOf } from "../data-point.js";
import type { Network } from "../network.js";
import { invalidKey, invalidProperty, unknownDataset, unknownNetwork } from "../problems.js";

/** Anonymous callers choose the keys. A key has at most 256 bytes, so this many take up at most about 20 MB. */
const MAX_REMEMBERED = 10_000;

/** The members of a request that name a data point. */
type Names = Pick<DataRequest, "network_id" | "dataset" | "key">;

/** Makes the problem of a member that is not valid. It depends on where it was sent: in the body, or in the query. */
type InvalidMember = (name: string, problem: string) => ProblemError;

/**
 * Finds the data point that a request names. It asks neither the chain nor a provider, so a request for somebody else's
 * contract or for an invalid key costs nothing.
 *
 * @throws ProblemError: 400, 404 or 422.
 */
export function findDataPoint(
  networks: ReadonlyMap<number, Network>,
  request: Names,
  invalidMember: InvalidMember,
): DataPoint {
  const key = parseKey(request.key);
  if (!key.ok) throw invalidMember("key", key.error);
  const { network, dataset } = findDataset(networks, request, invalidMember);
  if (!matchesKeyForm(dataset.keyForm, key.value)) throw invalidKey(dataset.keyForm);
  return dataPointOf(network, dataset, key.value);
}

/**
 * Finds the dataset that a request names.
 *
 * @throws ProblemError: 400, 404 or 422.
 */
export function findDataset(
  networks: ReadonlyMap<number, Network>,
  request: Omit<Names, "key">,
  invalidMember: InvalidMember,
): Pick<DataPoint, "network" | "dataset"> {
  const address = parseAddress(request.dataset);
  if (!address.ok) throw invalidMember("dataset", address.error);
  const network = networks.get(request.network_id);
  if (network === undefined) throw unknownNetwork(request.network_id, [...networks.keys()]);
  const dataset = network.datasets.get(address.value);
  if (dataset === undefined) throw unknownDataset(address.value, request.network_id);
  return { network, dataset };
}

/** Finds the data points that bodies name, and remembers them: many requests name the same one. */
export function dataPointFinder(networks: ReadonlyMap<number, Network>): (request: Names) => DataPoint {
  const known = new LRUCache<string, DataPoint>({ max: MAX_REMEMBERED });
  return (request) => {
    const { network_id, dataset, key } = request;
    const id = `${network_id} ${dataset} ${key}`;
    const remembered = known.get(id);
    if (remembered !== undefined) return remembered;
    const found = findDataPoint(networks, request, invalidProperty);
    known.set(id, found);
    return found;
  };
}
