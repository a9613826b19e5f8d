import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";
import { useEffect, useRef, useState } from "preact/hooks";
import { moment } from "../format/time";
import { showValue } from "../format/value";
import { useColours } from "../live/use-colours";
import type { PastUpdate } from "../live/use-history";
import { drawPlot, type Plot } from "./plot";

interface Props {
  readonly updates: readonly PastUpdate[];
  readonly kind: DatasetOverview["kind"];
  readonly point: ServedPoint;
}

/** The stored values over time. The table beside it has the same for those who do not see it. */
export function HistoryPlot({ updates, kind, point }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const colours = useColours();
  const rounds = [...updates].reverse();

  useEffect(() => {
    if (!frame.current) return;
    const drawn = drawPlot(frame.current, colours, setPointed);
    plot.current = drawn;
    return () => drawn.close();
  }, [colours]);
  useEffect(() => {
    // Where a value lies in the picture; what is written beside it is exact.
    const scale = 10 ** (point.format?.decimals ?? 0);
    plot.current?.show(
      rounds.map(({ timestamp }) => timestamp),
      rounds.map(({ status, value }) => (status === "OK" ? Number(value) / scale : null)),
    );
  }, [updates, colours]);

  const shown = rounds[pointed ?? rounds.length - 1];
  const value = shown && showValue(kind, shown.value, point.format, point.key);
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-value">
          {shown?.status === "OK" ? value?.exact : "no value"} <span class="unit">{value?.unit}</span>
        </span>
        <span class="quiet">{shown && moment(shown.timestamp)}</span>
      </figcaption>
      <div
        ref={frame}
        class="plot-frame"
        role="img"
        aria-label={`A plot of ${rounds.length} rounds; the table has them.`}
      />
    </figure>
  );
}
