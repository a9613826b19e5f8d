import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";
import type { PointId } from "../api/data";
import { useHistory } from "../live/use-history";
import { HistoryPlot } from "./history-plot";
import { HistoryTable } from "./history-table";
import { Notice } from "./notice";

interface Props {
  readonly id: PointId;
  readonly kind: DatasetOverview["kind"];
  readonly point: ServedPoint;
}

/** Shows the earlier values of a data point: numbers as a plot, and all of them as a table. */
export function HistorySection({ id, kind, point }: Props) {
  const { updates, error, older } = useHistory(id, point.timestamp);
  const isPlotted = kind === "median" && point.format?.type !== "bool";
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history">History</h2>
      <p class="quiet">Read from the contract's events. Each step is one stored round.</p>
      {error && (
        <Notice tone="warn" title="The history cannot be read now." code={error.code}>
          {error.title} {error.detail}
        </Notice>
      )}
      {updates === null && !error && point.timestamp > 0 && <p class="empty">Reading the events …</p>}
      {(updates?.length === 0 || point.timestamp === 0) && <p class="empty">No value has been stored yet.</p>}
      {updates && updates.length > 0 && (
        <>
          {isPlotted && <HistoryPlot updates={updates} kind={kind} point={point} />}
          <HistoryTable updates={updates} kind={kind} point={point} isOpen={!isPlotted} />
          {older && (
            <button type="button" class="more" onClick={older}>
              Show older
            </button>
          )}
        </>
      )}
    </section>
  );
}
