import type { ComponentChildren } from "preact";
import { ExplorerContext } from "../components/explorer-context";
import { LoadingOrError } from "../components/loading-or-error";
import type { NetworkAndDataset } from "../live/overview-state";
import { useOverview } from "../live/overview-state";
import { NotFoundPage } from "./not-found-page";

interface Props {
  readonly networkId: number;
  readonly dataset: string;
  readonly children: (found: NetworkAndDataset) => ComponentChildren;
}

/** Finds the network and the dataset of a route, and renders its children with them. */
export function DatasetRoute({ networkId, dataset: address, children }: Props) {
  const { networks } = useOverview();
  if (networks === null) return <LoadingOrError />;
  const network = networks.find(({ network_id }) => network_id === networkId);
  const dataset = network?.datasets.find(({ dataset }) => dataset.toLowerCase() === address.toLowerCase());
  if (!network || !dataset) return <NotFoundPage what={`${address} on network ${networkId}`} />;
  return (
    <ExplorerContext.Provider value={network.explorer_url}>{children({ network, dataset })}</ExplorerContext.Provider>
  );
}
