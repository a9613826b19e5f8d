import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import type { ComponentChildren } from "preact";
import { ExplorerContext } from "../components/explorer";
import { Notice } from "../components/notice";
import { useOverview } from "../live/overview-state";
import { NotFoundPage } from "./not-found-page";

/** A dataset that the operator serves, and its network. */
export interface Found {
  readonly network: NetworkOverview;
  readonly dataset: DatasetOverview;
}

interface Props {
  readonly networkId: number;
  readonly dataset: string;
  readonly children: (found: Found) => ComponentChildren;
}

/** Renders its children once the dataset has been found. */
export function FoundDataset({ networkId, dataset: address, children }: Props) {
  const { networks } = useOverview();
  if (networks === null) return <NotYetRead />;
  const network = networks.find(({ network_id }) => network_id === networkId);
  const dataset = network?.datasets.find(({ dataset }) => dataset.toLowerCase() === address.toLowerCase());
  if (!network || !dataset) return <NotFoundPage what={`${address} on network ${networkId}`} />;
  return (
    <ExplorerContext.Provider value={network.explorer_url}>{children({ network, dataset })}</ExplorerContext.Provider>
  );
}

/** Shows that the first answer is awaited, or why there is none. */
export function NotYetRead() {
  const { error } = useOverview();
  if (error === null) return <p class="empty">Reading the chain …</p>;
  return (
    <Notice title={error.title} code={error.code}>
      {error.detail}
    </Notice>
  );
}
