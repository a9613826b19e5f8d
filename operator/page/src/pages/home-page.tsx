import type { NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { QueryPrice } from "../components/facts";
import { useDocumentTitle } from "../components/frame";
import { HaltedUpdatesWarning, LoadingOrError } from "../components/notices";
import { datasetName, networkName } from "../format/names";
import { countAnsweringProviders } from "../live/health";
import { useOverview } from "../live/overview";
import { datasetPath } from "../route";
import { PointsTable } from "./points-table";

/** Shows everything that is served: networks, datasets, values. */
export function HomePage() {
  const { networks } = useOverview();
  useDocumentTitle(null);
  return (
    <>
      <div class="hero">
        <h1>Real-world values, signed and on chain</h1>
        <p class="quiet">
          Independent data providers sign each value. A contract verifies that more than two thirds of them did, and any
          contract can read the value in one transaction.
        </p>
      </div>
      {networks?.map((network) => <Network key={network.network_id} network={network} />) ?? <LoadingOrError />}
    </>
  );
}

function Network({ network }: { network: NetworkOverview }) {
  const id = network.network_id;
  return (
    <section aria-labelledby={`network-${id}`}>
      <h2 id={`network-${id}`}>
        {networkName(id)} <span class="small quiet">network {id}</span>
      </h2>
      <HaltedUpdatesWarning network={network} datasets={network.datasets} />
      {network.datasets.map((dataset) => (
        <section key={dataset.dataset} class="card" aria-labelledby={`dataset-${id}-${dataset.dataset}`}>
          <h3 id={`dataset-${id}-${dataset.dataset}`}>
            <a href={datasetPath(id, dataset.dataset)}>{datasetName(dataset.name)}</a>
          </h3>
          <p class="small quiet">
            <QueryPrice wei={dataset.query_price} /> a query, {countAnsweringProviders(dataset).needed} of{" "}
            {dataset.providers.length} providers must sign
          </p>
          <PointsTable networkId={id} dataset={dataset} />
        </section>
      ))}
    </section>
  );
}
