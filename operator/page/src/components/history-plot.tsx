import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";
import { useEffect, useRef, useState } from "preact/hooks";
import { moment } from "../format/time";
import { showValue } from "../format/value";
import { useLive } from "../live/live";
import { useColours } from "../live/use-colours";
import type { PastUpdate } from "../live/use-history";
import { drawPlot, type Plot } from "./plot";

/** The interval at which the end of the plot moves. */
const STEP_SECONDS = 5;

interface Props {
  readonly updates: readonly PastUpdate[];
  readonly kind: DatasetOverview["kind"];
  readonly point: ServedPoint;
}

/** Plots the stored values over time. The table has the same data for people who cannot see it. */
export function HistoryPlot({ updates, kind, point }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const colours = useColours();
  const rounds = [...updates].reverse();
  const { now } = useLive();
  const until = Math.floor(now / STEP_SECONDS) * STEP_SECONDS;

  useEffect(() => {
    if (!frame.current) return;
    const drawn = drawPlot(frame.current, colours, setPointed);
    plot.current = drawn;
    return () => drawn.close();
  }, [colours]);
  useEffect(() => {
    // A float is precise enough for a position in the plot. The text beside it is exact.
    const scale = 10 ** (point.format?.decimals ?? 0);
    const times = rounds.map(({ timestamp }) => timestamp);
    const values = rounds.map(({ status, value }) => (status === "OK" ? Number(value) / scale : null));
    // The last stored value holds until now.
    plot.current?.show([...times, Math.max(until, 1 + (times.at(-1) ?? 0))], [...values, values.at(-1) ?? null]);
  }, [updates, colours, until]);

  const shown = rounds[Math.min(pointed ?? rounds.length, rounds.length - 1)];
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
        aria-label={`A plot of ${rounds.length} rounds. The table has the same data.`}
      />
    </figure>
  );
}
