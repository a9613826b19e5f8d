import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { useMemo, useState } from "preact/hooks";
import { Hex } from "../components/copy";
import { Status } from "../components/data-point";
import { Notice } from "../components/notices";
import { Table } from "../components/table";
import { formatTime } from "../format/time";
import { displayValue, formatNumber } from "../format/values";
import { defaultRange, type History, RANGES, type RangeId, stepsOf, thinnedSteps } from "../live/history";
import { useOverview } from "../live/overview";
import { useHistory } from "../live/use-history";
import type { PointId } from "../operator-api";
import { HistoryPlot } from "./history-plot";

/** The interval at which the end of the plot moves. */
const MOVE_SECONDS = 5;
/** More steps of the plot would not be told apart. */
const MOST_STEPS = 400;
/** The maximum number of rows of the table. */
const MOST_ROWS = 200;

const COLUMNS = [
  { name: "Round", term: "round" },
  { name: "Value", class: "number" },
  { name: "Status" },
  { name: "Block", class: "number" },
  { name: "Transaction" },
] as const;

interface HistorySectionProps {
  readonly id: PointId;
  readonly kind: DatasetOverview["kind"];
  readonly point: ServedPoint;
  /** False if the page already explains why nothing can be read now. */
  readonly isReadable: boolean;
}

/** Shows the earlier values of a data point over a range of time: as a table, and numbers also as a plot. */
export function HistorySection({ id, kind, point, isReadable }: HistorySectionProps) {
  const [range, setRange] = useState<RangeId>(defaultRange(point));
  const overview = useOverview();
  const now = Math.floor(overview.now / MOVE_SECONDS) * MOVE_SECONDS;
  const { history, error } = useHistory(id, range, point.timestamp, overview.now);
  const { seconds, name } = RANGES[range];
  const start = seconds === null ? null : now - seconds;
  const steps = useMemo(
    () => (history && kind === "median" ? thinnedSteps(stepsOf(history, start, point), MOST_STEPS) : []),
    [history, point.timestamp, start],
  );
  const isEmpty = point.timestamp === 0;
  const isPlotted = steps.length > 1 && steps.some(({ value }) => value !== null);
  return (
    <section class="card" aria-labelledby="history">
      <div class="row bar">
        <h2 id="history">History</h2>
        <fieldset class="radios">
          <legend class="unseen">Range</legend>
          {(Object.keys(RANGES) as RangeId[]).map((id) => (
            <label key={id}>
              <input type="radio" name="range" checked={id === range} onChange={() => setRange(id)} />
              {id}
            </label>
          ))}
        </fieldset>
      </div>
      {error && (isReadable || !history) && (
        <Notice tone="warn" title="The history cannot be read now." code={error.code}>
          {error.title} {isReadable ? error.detail : "The page retries automatically."}
        </Notice>
      )}
      {isEmpty && <p class="empty">No value has been stored yet.</p>}
      {!isEmpty && !history && !error && <p class="empty">Reading the events …</p>}
      {kind === "median" && history && history.updates.length > 0 && !isPlotted && (
        <p class="empty">There is nothing to plot: {name} has fewer than two values.</p>
      )}
      {isPlotted && <HistoryPlot steps={steps} from={start} until={now} point={point} name={name} />}
      {history && !isEmpty && <Rounds history={history} start={start} name={name} kind={kind} point={point} />}
    </section>
  );
}

interface RoundsProps extends Pick<HistorySectionProps, "kind" | "point"> {
  readonly history: History;
  /** When the range begins, in seconds since 1970; null for everything. */
  readonly start: number | null;
  /** The range, in words. */
  readonly name: string;
}

/** Lists the stored rounds, newest first, with all digits. */
function Rounds({ history, start, name, kind, point }: RoundsProps) {
  const updates = history.updates.filter(({ timestamp }) => start === null || timestamp >= start);
  const count = updates.length;
  const rows = updates.slice(0, MOST_ROWS);
  const rest = history.isWhole ? "" : ` These are the newest ${count} rounds: there are earlier ones.`;
  return (
    <>
      <p class="small quiet">
        Read from the contract's events: {name}.{rest}
      </p>
      {point.timestamp < (start ?? 0) && (
        <p class="empty">No round was stored in {name}, so the value did not change.</p>
      )}
      {count > 0 && (
        <details open={kind === "majority"}>
          <summary>
            Show as a table ({rows.length < count ? `the newest ${rows.length} of ` : ""}
            {count} {count === 1 ? "round" : "rounds"})
          </summary>
          <Table columns={COLUMNS}>
            {rows.map(({ timestamp, status, value, block_number: block, transaction_hash: hash }) => (
              <tr key={timestamp}>
                <th scope="row">{formatTime(timestamp)}</th>
                <td class="number">
                  {status === "OK" ? displayValue(kind, value, point.format, point.key).text : "—"}
                </td>
                <td>
                  <Status status={status} />
                </td>
                <td class="number">{formatNumber(BigInt(block))}</td>
                <td>
                  <Hex hex={hash} what={`the transaction of ${formatTime(timestamp)}`} at="tx" />
                </td>
              </tr>
            ))}
          </Table>
        </details>
      )}
    </>
  );
}
