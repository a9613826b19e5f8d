import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { KEY_FORM_WORDS } from "@dataset-oracle/protocol/key-form";
import { useState } from "preact/hooks";
import { Hex } from "../components/copy";
import { Fact, QueryPrice } from "../components/facts";
import { PageHeading } from "../components/frame";
import { HaltedUpdatesWarning } from "../components/notices";
import { datasetName, keyText, networkName } from "../format/names";
import { formatDuration } from "../format/time";
import { countAnsweringProviders } from "../live/health";
import type { NetworkAndDataset } from "../live/overview";
import { RequestSection } from "../request/request-section";
import { SnippetSection } from "../snippets/snippet-section";
import { PointsTable } from "./points-table";
import { SpecsSection } from "./specs-section";

/** Shows a dataset: its keys, a form that requests an update, and code that reads it. */
export function DatasetPage({ network, dataset }: NetworkAndDataset) {
  const first = dataset.points?.[0];
  const [key, setKey] = useState(() => (first ? keyText(first) : ""));
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
      </section>
      {dataset.key_form === "WEB_ORACLE" && <SpecsSection specs={dataset.specs} />}
      <RequestSection network={network} dataset={dataset} text={key} onText={setKey} />
      <SnippetSection network={network} dataset={dataset} text={key} />
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
