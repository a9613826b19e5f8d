import { useState } from "preact/hooks";
import { Crumbs } from "../components/crumbs";
import { DatasetFacts } from "../components/dataset-facts";
import { NetworkNote } from "../components/network-note";
import { PointsTable } from "../components/points-table";
import { keyText } from "../format/key";
import { datasetName, networkName } from "../format/names";
import { useTitle } from "../live/use-title";
import { RequestSection } from "../request/request-section";
import { SnippetSection } from "../snippets/snippet-section";
import type { Found } from "./find-dataset";
import { WithDataset } from "./with-dataset";

/** The number of keys shown before a search or "Show all". */
const AT_FIRST = 12;

interface Props {
  readonly networkId: number;
  readonly dataset: string;
}

/** Shows a dataset: its keys, a form that requests an update, and code that reads it. */
export function DatasetPage({ networkId, dataset }: Props) {
  return (
    <WithDataset networkId={networkId} dataset={dataset}>
      {(found) => <Shown {...found} />}
    </WithDataset>
  );
}

function Shown({ network, dataset }: Found) {
  const name = datasetName(dataset.name);
  const first = dataset.points?.[0];
  const [key, setKey] = useState(() => (first ? keyText(first) : ""));
  useTitle(name);
  return (
    <div class="wide">
      <Crumbs />
      <div class="title">
        <h1>{name}</h1>
        <p class="quiet">
          {networkName(network.network_id)}, network {network.network_id}
        </p>
      </div>
      <NetworkNote network={network} />
      <DatasetFacts dataset={dataset} />
      <section class="card" aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <KeyForm form={dataset.key_form} />
        <PointsTable networkId={network.network_id} dataset={dataset} atFirst={AT_FIRST} />
      </section>
      <RequestSection network={network} dataset={dataset} text={key} onText={setKey} />
      <SnippetSection network={network} dataset={dataset} text={key} />
    </div>
  );
}

function KeyForm({ form }: { form: Found["dataset"]["key_form"] }) {
  return form === "SPOT_PRICE" ? (
    <p class="quiet">
      A key has the form <code>SPOTPX/BASE-QUOTE</code>. Its value is the price of one BASE in QUOTE, scaled by 10
      <sup>18</sup> on chain.
    </p>
  ) : (
    <p class="quiet">
      A key consists of <code>WEB/</code>, the hash of a published request spec, and an argument for each variable of
      the spec. Keys are listed once they have been stored.
    </p>
  );
}
