import type { DatasetOverview } from "@dataset-oracle/protocol/http-schemas/overview";
import { useState } from "preact/hooks";
import { DataPointsTable } from "../components/data-points-table";
import { Fact } from "../components/fact";
import { HaltedUpdatesWarning } from "../components/halted-updates-warning";
import { Hex } from "../components/hex";
import { NodeTurnsSection } from "../components/node-turns-section";
import { PageHeading } from "../components/page-heading";
import { QueryPrice } from "../components/query-price";
import { SpecsTable } from "../components/specs-table";
import { keyText } from "../format/key";
import { datasetName, networkName } from "../format/network-and-dataset-names";
import { formatDuration } from "../format/time";
import { countAnsweringProviders } from "../live/answering-providers";
import type { NetworkAndDataset } from "../live/overview-state";
import { focusKeyField } from "../request/key-field";
import { RequestSection } from "../request/request-section";
import { specBuilderPath } from "../route";
import { SnippetSection } from "../snippets/snippet-section";

/** Shows a dataset: its keys, a form that requests an update, and code that reads it. */
export function DatasetPage({ network, dataset }: NetworkAndDataset) {
  const first = dataset.points?.[0];
  const [key, setKey] = useState(() => (first ? keyText(first) : ""));
  const onChosen = (chosen: string) => {
    setKey(chosen);
    focusKeyField();
  };
  return (
    <>
      <PageHeading name={datasetName(dataset.name)}>
        {networkName(network.network_id)}, network {network.network_id}
      </PageHeading>
      <HaltedUpdatesWarning network={network} datasets={[dataset]} />
      <DatasetFacts dataset={dataset} />
      <section class="card" aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <KeyForm form={dataset.key_form} />
        <DataPointsTable networkId={network.network_id} dataset={dataset} />
      </section>
      {dataset.key_form === "WEB_ORACLE" && (
        <section class="card" aria-labelledby="specs">
          <div class="row bar">
            <h2 id="specs">Request specs</h2>
            <a class="button" href={specBuilderPath(network.network_id)}>
              Build a request spec
            </a>
          </div>
          <SpecsTable dataset={dataset} onChosen={onChosen} />
        </section>
      )}
      <RequestSection network={network} dataset={dataset} text={key} onText={setKey} />
      <NodeTurnsSection network={network} dataset={dataset} />
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
        {kind === "median" ? `the median, within ${tolerance / 100} %` : "the one that more than half signed"}
      </Fact>
      <Fact name="Maximum age when stored">{formatDuration(dataset.max_round_age)}</Fact>
    </dl>
  );
}

function KeyForm({ form }: { form: DatasetOverview["key_form"] }) {
  return form === "SPOT_PRICE" ? (
    <p class="quiet">
      A key has the form <code>SPOTPX/BASE-QUOTE</code>. Its value is the price of one BASE in QUOTE, scaled by 10
      <sup>18</sup> on chain.
    </p>
  ) : (
    <p class="quiet">
      A key consists of <code>WEB/</code>, the hash of a published request spec, and an argument for each variable of
      the spec. The list has the configured keys, and those that were first stored or announced recently.
    </p>
  );
}
