import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { useMemo, useState } from "preact/hooks";
import { formatAligned } from "../format/number";
import { defaultRange, RANGES, type RangeId } from "../live/history-range";
import { stepsOf } from "../live/history-steps";
import { summaryOf } from "../live/history-summary";
import { useOverview } from "../live/overview-state";
import { useHistory } from "../live/use-history";
import { csvUrl, type PointId } from "../operator-api";
import { Fact } from "./fact";
import { HistoryPlot } from "./history-plot";
import { CandleTable, UpdateTable } from "./history-tables";
import { Notice } from "./notice";
import { RadioGroup } from "./radio-group";

/** The interval at which the end of the plot moves. */
const MOVE_SECONDS = 5;

interface Props {
  readonly id: PointId;
  readonly kind: DatasetOverview["kind"];
  readonly point: ServedPoint;
  /** False if the page already explains why nothing can be read now. */
  readonly isReadable: boolean;
}

/** Shows the earlier values of a data point over a range of time: as a table, and numbers also as a plot. */
export function HistorySection({ id, kind, point, isReadable }: Props) {
  const [range, setRange] = useState<RangeId>(defaultRange(point));
  const overview = useOverview();
  const now = Math.floor(overview.now / MOVE_SECONDS) * MOVE_SECONDS;
  const isNumber = kind === "median";
  const { history, part, error } = useHistory(id, range, point.timestamp, isNumber, overview.now);
  const { seconds, name } = RANGES[range];
  const start = seconds === null ? null : now - seconds;
  const steps = useMemo(
    () => (history && isNumber ? stepsOf(history, start, point) : []),
    [history, point.timestamp, start],
  );
  const isEmpty = point.timestamp === 0;
  const count = history?.candles?.length ?? history?.updates.length ?? 0;
  return (
    <section class="card history" aria-labelledby="history">
      <div class="row bar">
        <h2 id="history">History</h2>
        <RadioGroup name="Range" options={Object.keys(RANGES) as RangeId[]} chosen={range} onChosen={setRange} />
      </div>
      {error && (isReadable || !history) && (
        <Notice tone="warn" title="The history cannot be read now." code={error.code}>
          {error.title} {isReadable ? error.detail : "The page retries automatically."}
        </Notice>
      )}
      {isEmpty && <p class="empty">No value has been stored yet.</p>}
      {!isEmpty && !history && !error && <p class="empty">Reading the events …</p>}
      {steps.length > 0 && (
        <>
          <RangeSummary steps={steps} point={point} />
          <HistoryPlot steps={steps} until={now} point={point} name={name} />
        </>
      )}
      {history && !isEmpty && (
        <>
          <p class="small quiet">
            Read from the contract's events: {name}.{" "}
            {history.candles ? "Each step is an interval." : "Each step is a round."}{" "}
            <a href={csvUrl(id, part)}>Download as CSV</a>
          </p>
          {count === 0 && <p class="empty">No round was stored in {name}, so the value did not change.</p>}
          {count > 0 && (
            <details open={!isNumber}>
              <summary>
                Show as a table ({count} {history.candles ? "intervals" : "rounds"})
              </summary>
              {history.candles ? (
                <CandleTable candles={history.candles} point={point} />
              ) : (
                <UpdateTable updates={history.updates} kind={kind} point={point} />
              )}
            </details>
          )}
        </>
      )}
    </section>
  );
}

function RangeSummary({ steps, point }: { steps: Parameters<typeof summaryOf>[0]; point: ServedPoint }) {
  const summary = summaryOf(steps);
  if (summary === null) return null;
  const { change, high, low } = summary;
  const [highText, lowText] = formatAligned([high, low], point.format?.decimals ?? 0);
  const tone = change?.startsWith("+") ? "good" : change?.startsWith("−") ? "bad" : "";
  return (
    <dl class="facts">
      <Fact name="Change">
        <span class={tone}>{change ?? "—"}</span>
      </Fact>
      <Fact name="High">{highText}</Fact>
      <Fact name="Low">{lowText}</Fact>
    </dl>
  );
}
