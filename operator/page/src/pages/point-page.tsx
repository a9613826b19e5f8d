import type { DataPointAnswer } from "@dataset-oracle/protocol/wire-data";
import { useEffect, useState } from "preact/hooks";
import { getData } from "../api/data";
import { Crumbs } from "../components/crumbs";
import { HistorySection } from "../components/history-section";
import { LastRound } from "../components/last-round";
import { NetworkNote } from "../components/network-note";
import { PointHead } from "../components/point-head";
import { TroubleNote } from "../components/trouble-note";
import { keyName, keyText } from "../format/key";
import { datasetName } from "../format/names";
import { useLive } from "../live/live";
import { usePolled } from "../live/use-polled";
import { useTitle } from "../live/use-title";
import { RequestSection } from "../request/request-section";
import { datasetPath } from "../route";
import { SnippetSection } from "../snippets/snippet-section";
import type { Found } from "./find";
import { Served } from "./served";

interface Props {
  readonly networkId: number;
  readonly dataset: string;
  /** The key in ASCII, or in hex after `0x`. */
  readonly text: string;
}

/** Between those the overview says when there is something new. */
const EVERY_MS = 15_000;

/** A data point: its value, who signed it, and what it was before. */
export function PointPage({ networkId, dataset, text }: Props) {
  return (
    <Served networkId={networkId} dataset={dataset}>
      {(found) => <Shown {...found} text={text} />}
    </Served>
  );
}

function Shown({ network, dataset, text }: Found & { text: string }) {
  const id = { networkId: network.network_id, dataset: dataset.dataset, key: text };
  const { value: data, trouble, again } = usePolled<DataPointAnswer>(text, () => getData(id), EVERY_MS);
  const inOverview = dataset.points?.find((point) => keyText(point) === text || point.key_hex === text);
  const { again: lookAgain } = useLive();
  const [wanted, setWanted] = useState(text);
  useEffect(() => {
    if (data && inOverview && inOverview.timestamp !== data.timestamp) again();
  }, [inOverview?.timestamp]);
  // What is newer of the two.
  const point = data && inOverview && inOverview.timestamp > data.timestamp ? { ...data, ...inOverview } : data;
  const name = keyName(text, point?.format?.title ?? inOverview?.format?.title ?? null);
  useTitle(name);
  return (
    <div class="wide">
      <Crumbs more={[{ name: datasetName(dataset.name), href: datasetPath(network.network_id, dataset.dataset) }]} />
      <PointHead network={network} dataset={dataset} text={text} point={point ?? inOverview ?? null} />
      <NetworkNote network={network} />
      {trouble && network.readable && (
        <TroubleNote tone={data ? "warn" : "bad"} title={trouble.title} code={trouble.code}>
          {trouble.detail}
        </TroubleNote>
      )}
      {data && <LastRound data={data} dataset={dataset} />}
      {point && <HistorySection id={id} kind={dataset.kind} point={point} />}
      <RequestSection
        network={network}
        dataset={dataset}
        text={wanted}
        onText={setWanted}
        onStored={() => {
          again();
          lookAgain();
        }}
      />
      <SnippetSection network={network} dataset={dataset} text={text} format={point?.format ?? null} />
    </div>
  );
}
