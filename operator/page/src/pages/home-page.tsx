import type { DatasetOverview, NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { DataPointsTable } from "../components/data-points-table";
import { HaltedUpdatesWarning } from "../components/halted-updates-warning";
import { Hex } from "../components/hex";
import { LoadingOrError } from "../components/loading-or-error";
import { QueryPrice } from "../components/query-price";
import { useDocumentTitle } from "../components/use-document-title";
import { datasetName, networkName } from "../format/network-and-dataset-names";
import { countAnsweringProviders } from "../live/answering-providers";
import { useOverview } from "../live/overview-state";
import { datasetPath, specBuilderPath } from "../route";

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
        {networks && <Totals networks={networks} />}
      </div>
      {networks?.map((network) => <Network key={network.network_id} network={network} />) ?? <LoadingOrError />}
    </>
  );
}

function Totals({ networks }: { networks: readonly NetworkOverview[] }) {
  const datasets = networks.flatMap((network) => network.datasets);
  const points = datasets.flatMap((dataset) => dataset.points ?? []);
  const providers = new Set(datasets.flatMap((dataset) => dataset.providers.map(({ address }) => address)));
  const totals = { network: networks.length, dataset: datasets.length, "data point": points.length };
  return (
    <ul class="row">
      {Object.entries({ ...totals, "data provider": providers.size }).map(([what, count]) => (
        <li key={what} class="quiet">
          <b>{count}</b> {count === 1 ? what : `${what}s`}
        </li>
      ))}
    </ul>
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
          <DatasetSummary networkId={id} dataset={dataset} />
          <DataPointsTable networkId={id} dataset={dataset} />
        </section>
      ))}
    </section>
  );
}

/** Summarizes a dataset in one line. */
function DatasetSummary({ networkId, dataset }: { networkId: number; dataset: DatasetOverview }) {
  const { providers, query_price: price } = dataset;
  return (
    <ul class="row small">
      <li>
        <Hex hex={dataset.dataset} what={`the address of ${dataset.name}`} />
      </li>
      <li>
        <QueryPrice wei={price} /> <span class="quiet">a query</span>
      </li>
      <li>
        {countAnsweringProviders(dataset).needed} of {providers.length} <span class="quiet">must sign</span>
      </li>
      <li>{dataset.kind}</li>
      {dataset.key_form === "WEB_ORACLE" && (
        <li>
          <a href={specBuilderPath(networkId)}>Build a request spec</a>
        </li>
      )}
    </ul>
  );
}
