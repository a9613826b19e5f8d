import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";
import { moment } from "../format/time";
import { showValue } from "../format/value";
import { type PastUpdate, useHistory } from "../live/use-history";
import type { PointId } from "../operator";
import { Hex } from "./copy";
import { HistoryPlot } from "./history-plot";
import { Notice } from "./notice";
import { Status } from "./status";
import { TableHead } from "./table-head";

interface Props {
  readonly kind: DatasetOverview["kind"];
  readonly point: ServedPoint;
}

interface HistoryProps extends Props {
  readonly id: PointId;
  /** False if the page explains already why nothing can be read now. */
  readonly isReadable: boolean;
}

/** Shows the earlier values of a data point: numbers as a plot, and all of them as a table. */
export function History({ id, kind, point, isReadable }: HistoryProps) {
  const { updates, error, older } = useHistory(id, point.timestamp);
  const isPlotted = kind === "median" && point.format?.type !== "bool";
  const isEmpty = updates?.length === 0 || point.timestamp === 0;
  return (
    <section class="card" aria-labelledby="history">
      <h2 id="history">History</h2>
      <p class="quiet">Read from the contract's events. Each step is one stored round.</p>
      {isReadable && error && (
        <Notice tone="warn" title="The history cannot be read now." code={error.code}>
          {error.title} {error.detail}
        </Notice>
      )}
      {isEmpty && <p class="empty">No value has been stored yet.</p>}
      {!isEmpty && !updates && !error && <p class="empty">Reading the events …</p>}
      {updates && updates.length > 0 && (
        <>
          {isPlotted && <HistoryPlot updates={updates} kind={kind} point={point} />}
          <details open={!isPlotted}>
            <summary>Show as a table ({updates.length} rounds)</summary>
            <HistoryTable updates={updates} kind={kind} point={point} />
          </details>
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

/** Lists the stored rounds, newest first, with all digits. */
function HistoryTable({ updates, kind, point }: Props & { updates: readonly PastUpdate[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable with the keyboard
    <section class="scroll" tabIndex={0} aria-label="History as a table">
      <table>
        <TableHead columns={{ Round: "", Value: "number", Status: "", Block: "number", Transaction: "" }} />
        <tbody>
          {updates.map((update) => (
            <tr key={update.timestamp}>
              <th scope="row">{moment(update.timestamp)}</th>
              <td class="number">
                {update.status === "OK" ? showValue(kind, update.value, point.format, point.key).exact : "—"}
              </td>
              <td>
                <Status status={update.status} />
              </td>
              <td class="number">{update.block_number}</td>
              <td>
                <Hex hex={update.transaction_hash} what={`the transaction of ${moment(update.timestamp)}`} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
