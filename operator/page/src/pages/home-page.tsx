import type { NetworkOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { QueryPrice } from "../components/facts";
import { useDocumentTitle } from "../components/frame";
import { HaltedUpdatesWarning, LoadingOrError } from "../components/notices";
import { datasetName, keyText, networkName, splitKey } from "../format/names";
import { displayValue } from "../format/values";
import { countAnsweringProviders } from "../live/health";
import { useOverview } from "../live/overview";
import { datasetPath, pointPath } from "../route";
import { PointsTable } from "./points-table";
import { Specs } from "./specs";

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
        <FirstSteps networks={networks ?? []} />
      </div>
      {networks?.map((network) => <Network key={network.network_id} network={network} />) ?? <LoadingOrError />}
    </>
  );
}

/** Leads a newcomer to a data point: its value, the form that requests one, and the code that reads it. */
function FirstSteps({ networks }: { networks: readonly NetworkOverview[] }) {
  const points = networks.flatMap(({ network_id: id, datasets }) =>
    datasets.flatMap(({ dataset, kind, points }) => points?.map((point) => ({ id, dataset, kind, point })) ?? []),
  );
  const first = points.find(({ point }) => point.status === "OK") ?? points[0];
  if (!first) return null;
  const { id, dataset, kind, point } = first;
  const key = keyText(point);
  const { text, unit } = displayValue(kind, point.value, point.format, point.key);
  const value = point.status === "OK" ? `is ${text} ${unit ?? ""}` : "has no value yet";
  return (
    <ol class="first">
      <li>
        <a href={pointPath(id, dataset, key)}>
          <b>See a value</b>
          <span class="small quiet">{`${point.format?.title ?? splitKey(key).name} ${value}`}</span>
        </a>
      </li>
      <li>
        <a href={pointPath(id, dataset, key, "request")}>
          <b>Request a fresh one</b>
          <span class="small quiet">The providers sign it, and the contract stores it.</span>
        </a>
      </li>
      <li>
        <a href={pointPath(id, dataset, key, "read")}>
          <b>Read it in a contract</b>
          <span class="small quiet">Copy the code: one call, paid in Ether.</span>
        </a>
      </li>
    </ol>
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
          {dataset.key_form === "WEB_ORACLE" && <Specs networkId={id} dataset={dataset} />}
        </section>
      ))}
    </section>
  );
}
