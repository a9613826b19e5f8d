import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { KEY_FORM_WORDS } from "@dataset-oracle/protocol/key-form";
import { Hex } from "../components/copy";
import { Fact, QueryPrice } from "../components/facts";
import { PageHeading } from "../components/frame";
import { HaltedUpdatesWarning } from "../components/notices";
import { datasetName, networkName } from "../format/names";
import { formatDuration } from "../format/time";
import { countAnsweringProviders } from "../live/health";
import type { NetworkAndDataset } from "../live/overview";
import { LookUp } from "./look-up";
import { PointsTable } from "./points-table";
import { Specs } from "./specs";

/** Shows a dataset: its contract, its keys, and the request specs of those. */
export function DatasetPage({ network, dataset }: NetworkAndDataset) {
  return (
    <>
      <PageHeading name={datasetName(dataset.name)}>
        {networkName(network.network_id)}, network {network.network_id}
      </PageHeading>
      <HaltedUpdatesWarning network={network} datasets={[dataset]} />
      <DatasetFacts dataset={dataset} />
      <section class="card" aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <p class="quiet">A key has the form {KEY_FORM_WORDS[dataset.key_form]}.</p>
        <PointsTable networkId={network.network_id} dataset={dataset} />
        {dataset.key_form === "SPOT_PRICE" && <LookUp networkId={network.network_id} dataset={dataset} />}
      </section>
      {dataset.key_form === "WEB_ORACLE" && (
        <section class="card" aria-labelledby="specs">
          <h2 id="specs">Request specs</h2>
          <Specs networkId={network.network_id} dataset={dataset} />
        </section>
      )}
    </>
  );
}

function DatasetFacts({ dataset }: { dataset: DatasetOverview }) {
  const { providers, tolerance_bps: tolerance, kind } = dataset;
  return (
    <dl class="facts">
      <Fact name="Contract" wide>
        <Hex hex={dataset.dataset} what="the contract address" at="address" whole />
      </Fact>
      <Fact name="Price per query">
        <QueryPrice wei={dataset.query_price} />
      </Fact>
      <Fact name="Providers">
        {countAnsweringProviders(dataset).needed} of {providers.length} must sign
      </Fact>
      <Fact name="Stored value">
        {kind === "median" ? `the median, within ${tolerance / 100}%` : "the one that more than half signed"}
      </Fact>
      <Fact name="Maximum age when stored">{formatDuration(dataset.max_round_age)}</Fact>
    </dl>
  );
}
