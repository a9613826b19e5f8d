import { parseAddress } from "@dataset-oracle/protocol/address";
import { parseKey } from "@dataset-oracle/protocol/dataset-key";
import type { DataRequest } from "@dataset-oracle/protocol/http-schemas/data-request";
import { matchesKeyForm } from "@dataset-oracle/protocol/key-form";
import type { Hex } from "viem";
import type { Operator } from "../operator.js";
import type { NetworkDataset } from "../served-network.js";
import { type InvalidPart, invalidKey, invalidMember, notReady, problem, unknownNetwork } from "./problems.js";

/** A key of a served dataset. */
export interface RequestedDataPoint extends NetworkDataset {
  /** Lower-case hex. */
  readonly key: Hex;
}

/** The members of a request that name a data point. */
type Names = Pick<DataRequest, "network_id" | "dataset" | "key">;

/**
 * Finds the data point that a request names. It asks neither the chain nor a provider, so a request for somebody else's
 * contract or for an invalid key costs nothing.
 *
 * @param part Where the names were sent.
 * @throws ProblemError: 400, 404, 422, or 503 while the network is not there yet.
 */
export function findDataPoint({ networks, clients }: Operator, request: Names, part: InvalidPart): RequestedDataPoint {
  const key = parseKey(request.key);
  if (!key.ok) throw invalidMember(part, "key", key.error);
  const address = parseAddress(request.dataset);
  if (!address.ok) throw invalidMember(part, "dataset", address.error);
  const network = networks.get(request.network_id);
  if (network === undefined) {
    throw clients.has(request.network_id)
      ? notReady(request.network_id)
      : unknownNetwork(request.network_id, [...clients.keys()]);
  }
  const served = network.datasets.get(address.value);
  if (served === undefined) {
    throw problem("unknown_dataset", { dataset: address.value, network: request.network_id });
  }
  const { keyForm } = served.dataset;
  if (!matchesKeyForm(keyForm, key.value)) throw invalidKey(keyForm);
  return { ...served, key: key.value };
}
