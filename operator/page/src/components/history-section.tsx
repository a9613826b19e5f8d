import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";
import type { PointId } from "../api/data";
import { useHistory } from "../live/use-history";
import { HistoryPlot } from "./history-plot";
import { HistoryTable } from "./history-table";
import { TroubleNote } from "./trouble-note";

interface Props {
  readonly id: PointId;
  readonly kind: DatasetOverview["kind"];
  readonly point: ServedPoint;
}

/** What was stored of a data point before: a plot of numbers, and the same as a table. */
export function HistorySection({ id, kind, point }: Props) {
  const { updates, trouble, older } = useHistory(id, point.timestamp);
  const isPlotted = kind === "median" && point.format?.type !== "bool";
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history">History</h2>
      <p class="quiet">From the contract's events. Each step is one stored round.</p>
      {trouble && (
        <TroubleNote tone="warn" title="The history cannot be read now." code={trouble.code}>
          {trouble.title} {trouble.detail}
        </TroubleNote>
      )}
      {updates === null && !trouble && point.timestamp > 0 && <p class="empty">Reading the events …</p>}
      {(updates?.length === 0 || point.timestamp === 0) && <p class="empty">Nothing was stored yet.</p>}
      {updates && updates.length > 0 && (
        <>
          {isPlotted && <HistoryPlot updates={updates} kind={kind} point={point} />}
          <HistoryTable updates={updates} kind={kind} point={point} isOpen={!isPlotted} />
          {older && (
            <button type="button" class="more" onClick={older}>
              Look further back
            </button>
          )}
        </>
      )}
    </section>
  );
}
