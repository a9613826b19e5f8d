import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/wire-data";

/** A dataset that the operator serves, and its network. */
export interface Found {
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
}

export function findDataset(networks: readonly NetworkOverview[], networkId: number, address: string): Found | null {
  const network = networks.find(({ network_id }) => network_id === networkId);
  const dataset = network?.datasets.find(({ dataset }) => dataset.toLowerCase() === address.toLowerCase());
  return network && dataset ? { network, dataset } : null;
}
