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
import type { Found } from "./find";
import { Served } from "./served";

/** So many keys are shown before somebody asks for all, or searches. */
const AT_FIRST = 12;

interface Props {
  readonly networkId: number;
  readonly dataset: string;
}

/** A dataset: its keys, how it is read, and a form that has a value updated. */
export function DatasetPage({ networkId, dataset }: Props) {
  return (
    <Served networkId={networkId} dataset={dataset}>
      {(found) => <Shown {...found} />}
    </Served>
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
      A key is <code>SPOTPX/BASE-QUOTE</code>. Its value is the price of one BASE in QUOTE, scaled by 10<sup>18</sup> on
      chain.
    </p>
  ) : (
    <p class="quiet">
      A key is <code>WEB/</code>, the hash of a published request spec, and an argument for each of its variables.
      Listed are the keys that were stored before.
    </p>
  );
}
