import type { DataPointAnswer } from "@dataset-oracle/protocol/wire-data";
import { useEffect, useState } from "preact/hooks";
import { getData } from "../api/data";
import { Crumbs } from "../components/crumbs";
import { HistorySection } from "../components/history-section";
import { LastRound } from "../components/last-round";
import { NetworkNote } from "../components/network-note";
import { Notice } from "../components/notice";
import { PointHead } from "../components/point-head";
import { keyName, keyText } from "../format/key";
import { datasetName } from "../format/names";
import { useLive } from "../live/live";
import { usePolled } from "../live/use-polled";
import { useTitle } from "../live/use-title";
import { RequestSection } from "../request/request-section";
import { datasetPath } from "../route";
import { SnippetSection } from "../snippets/snippet-section";
import type { Found } from "./find-dataset";
import { WithDataset } from "./with-dataset";

interface Props {
  readonly networkId: number;
  readonly dataset: string;
  /** The key in ASCII, or in hex after `0x`. */
  readonly text: string;
}

/** Between polls, the overview shows when a new round is stored. */
const EVERY_MS = 15_000;

/** Shows a data point: its value, its signers and its history. */
export function PointPage({ networkId, dataset, text }: Props) {
  return (
    <WithDataset networkId={networkId} dataset={dataset}>
      {(found) => <Shown {...found} text={text} />}
    </WithDataset>
  );
}

function Shown({ network, dataset, text }: Found & { text: string }) {
  const id = { networkId: network.network_id, dataset: dataset.dataset, key: text };
  const { value: data, error, refresh } = usePolled<DataPointAnswer>(text, () => getData(id), EVERY_MS);
  const inOverview = dataset.points?.find((point) => keyText(point) === text || point.key_hex === text);
  const { refresh: refreshOverview } = useLive();
  const [wanted, setWanted] = useState(text);
  useEffect(() => {
    if (data && inOverview && inOverview.timestamp !== data.timestamp) refresh();
  }, [inOverview?.timestamp]);
  // Either answer can be the newer one.
  const point = data && inOverview && inOverview.timestamp > data.timestamp ? { ...data, ...inOverview } : data;
  const name = keyName(text, point?.format?.title ?? inOverview?.format?.title ?? null);
  useTitle(name);
  return (
    <div class="wide">
      <Crumbs more={[{ name: datasetName(dataset.name), href: datasetPath(network.network_id, dataset.dataset) }]} />
      <PointHead network={network} dataset={dataset} text={text} point={point ?? inOverview ?? null} />
      <NetworkNote network={network} />
      {error && network.readable && (
        <Notice tone={data ? "warn" : "bad"} title={error.title} code={error.code}>
          {error.detail}
        </Notice>
      )}
      {data && <LastRound data={data} dataset={dataset} />}
      {point && <HistorySection id={id} kind={dataset.kind} point={point} />}
      <RequestSection
        network={network}
        dataset={dataset}
        text={wanted}
        onText={setWanted}
        onStored={() => {
          refresh();
          refreshOverview();
        }}
      />
      <SnippetSection network={network} dataset={dataset} text={text} format={point?.format ?? null} />
    </div>
  );
}
