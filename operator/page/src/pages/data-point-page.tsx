import { useEffect, useState } from "preact/hooks";
import { DataPointHeader } from "../components/data-point-header";
import { DataPointProperties } from "../components/data-point-properties";
import { HaltedUpdatesWarning } from "../components/halted-updates-warning";
import { HistorySection } from "../components/history-section";
import { LastRound } from "../components/last-round";
import { LastSenders } from "../components/last-senders";
import { Notice } from "../components/notice";
import { EvidenceSection } from "../evidence/evidence-section";
import { keyText } from "../format/key";
import type { NetworkAndDataset } from "../live/overview-state";
import { useOverview } from "../live/overview-state";
import { usePolled } from "../live/use-polled";
import { getData } from "../operator-api";
import { RequestSection } from "../request/request-section";
import { SnippetSection } from "../snippets/snippet-section";

/** Between polls, the overview shows when a new round is stored. */
const EVERY_MS = 15_000;

/**
 * Shows a data point: its value, its signers and its history.
 *
 * @param text The key in ASCII, or in hex after `0x`.
 */
export function DataPointPage({ network, dataset, text }: NetworkAndDataset & { text: string }) {
  const id = { networkId: network.network_id, dataset: dataset.dataset, key: text };
  const { value: data, error, refresh } = usePolled(text, () => getData(id), EVERY_MS);
  const listed = dataset.points?.find((point) => keyText(point) === text || point.key_hex === text);
  const overview = useOverview();
  const [wanted, setWanted] = useState(text);
  useEffect(() => {
    if (data && listed && listed.timestamp !== data.timestamp) refresh();
  }, [listed?.timestamp]);
  // Either answer can be the newer one.
  const point = data && listed && listed.timestamp > data.timestamp ? { ...data, ...listed } : data;
  // Otherwise another notice on the page already explains why.
  const isReadable = network.readable && overview.error === null;
  const onStored = () => {
    refresh();
    overview.refresh();
  };
  return (
    <>
      <DataPointHeader network={network} dataset={dataset} text={text} point={point ?? listed ?? null} />
      <HaltedUpdatesWarning network={network} datasets={[dataset]} />
      {isReadable && error && (
        <Notice tone={data ? "warn" : "bad"} title={error.title} code={error.code}>
          {error.detail}
        </Notice>
      )}
      {point && <HistorySection id={id} kind={dataset.kind} point={point} isReadable={isReadable} />}
      <DataPointProperties dataset={dataset} text={text} point={point ?? listed ?? null} />
      {data && <LastRound data={data} dataset={dataset} />}
      {data && <LastSenders network={network} data={data} />}
      {data && <EvidenceSection key={text} data={data} dataset={dataset} />}
      <RequestSection network={network} dataset={dataset} text={wanted} onText={setWanted} onStored={onStored} />
      <SnippetSection network={network} dataset={dataset} text={text} format={point?.format ?? null} />
    </>
  );
}
