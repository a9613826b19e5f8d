import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";

/** A dataset that the operator serves, and its network. */
export interface NetworkAndDataset {
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
}
