import type { NetworkOverview } from "@dataset-oracle/protocol/wire-data";
import { DatasetLine } from "../components/dataset-line";
import { NetworkNote } from "../components/network-note";
import { Notice } from "../components/notice";
import { PointsTable } from "../components/points-table";
import { datasetName, networkName } from "../format/names";
import { useLive } from "../live/live";
import { useTitle } from "../live/use-title";
import { datasetPath } from "../route";

/** The number of data points shown for each dataset before "Show all". */
const AT_FIRST = 12;

/** Shows everything that is served: networks, datasets, values. */
export function HomePage() {
  const { networks, error } = useLive();
  useTitle(null);
  return (
    <div class="wide">
      <div class="hero">
        <h1>Real-world values, signed and on chain</h1>
        <p class="lead">
          Independent data providers sign each value. A contract verifies that more than two thirds of them did, and any
          contract can read the value in one transaction.
        </p>
        {networks && <Totals networks={networks} />}
      </div>
      {networks === null && (error ? <Lost /> : <p class="empty">Reading the chain …</p>)}
      {networks?.map((network) => (
        <Network key={network.network_id} network={network} />
      ))}
    </div>
  );
}

function Totals({ networks }: { networks: readonly NetworkOverview[] }) {
  const datasets = networks.flatMap((network) => network.datasets);
  const points = datasets.flatMap((dataset) => dataset.points ?? []);
  const providers = new Set(datasets.flatMap((dataset) => dataset.providers.map(({ address }) => address)));
  return (
    <dl class="totals">
      {[
        [networks.length, "network"],
        [datasets.length, "dataset"],
        [points.length, "data point"],
        [providers.size, "data provider"],
      ].map(([count, what]) => (
        <div key={what}>
          <dt>
            {what}
            {count === 1 ? "" : "s"}
          </dt>
          <dd>{count}</dd>
        </div>
      ))}
    </dl>
  );
}

function Network({ network }: { network: NetworkOverview }) {
  const id = network.network_id;
  return (
    <section aria-labelledby={`network-${id}`}>
      <h2 id={`network-${id}`} class="network">
        {networkName(id)} <span class="quiet">network {id}</span>
      </h2>
      <NetworkNote network={network} />
      {network.datasets.map((dataset) => (
        <section key={dataset.dataset} class="card" aria-labelledby={`dataset-${id}-${dataset.dataset}`}>
          <h3 id={`dataset-${id}-${dataset.dataset}`}>
            <a href={datasetPath(id, dataset.dataset)}>{datasetName(dataset.name)}</a>
          </h3>
          <DatasetLine dataset={dataset} />
          <PointsTable networkId={id} dataset={dataset} atFirst={AT_FIRST} />
        </section>
      ))}
    </section>
  );
}

function Lost() {
  return (
    <Notice title="The operator does not answer." code="unreachable">
      Check your connection. The page retries automatically.
    </Notice>
  );
}
