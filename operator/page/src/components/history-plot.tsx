import type { DatasetOverview, ServedPoint } from "@dataset-oracle/protocol/wire-data";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { moment } from "../format/time";
import { showValue } from "../format/value";
import { useOverview } from "../live/overview-state";
import type { PastUpdate } from "../live/use-history";

/** The interval at which the end of the plot moves. */
const STEP_SECONDS = 5;
const HEIGHT = 220;
const DARK = matchMedia("(prefers-color-scheme: dark)");

interface Props {
  readonly updates: readonly PastUpdate[];
  readonly kind: DatasetOverview["kind"];
  readonly point: ServedPoint;
}

/** Plots the stored values over time. The table has the same data for people who cannot see it. */
export function HistoryPlot({ updates, kind, point }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const [isDark, setDark] = useState(DARK.matches);
  const rounds = [...updates].reverse();
  const { now } = useOverview();
  const until = Math.floor(now / STEP_SECONDS) * STEP_SECONDS;

  useEffect(() => {
    const follow = () => setDark(DARK.matches);
    DARK.addEventListener("change", follow);
    return () => DARK.removeEventListener("change", follow);
  }, []);
  useEffect(() => {
    const { current: element } = frame;
    if (!element) return;
    const drawn = draw(element, setPointed);
    plot.current = drawn;
    const resized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
  }, [isDark]);
  useEffect(() => {
    // A float is precise enough for a position in the plot. The text beside it is exact.
    const scale = 10 ** (point.format?.decimals ?? 0);
    const times = rounds.map(({ timestamp }) => timestamp);
    const values = rounds.map(({ status, value }) => (status === "OK" ? Number(value) / scale : null));
    // The last stored value holds until now.
    const end = Math.max(until, 1 + (times.at(-1) ?? 0));
    plot.current?.setData([
      [...times, end],
      [...values, values.at(-1) ?? null],
    ]);
  }, [updates, isDark, until]);

  const shown = rounds[Math.min(pointed ?? rounds.length, rounds.length - 1)];
  const value = shown && showValue(kind, shown.value, point.format, point.key);
  return (
    <figure class="plot">
      <figcaption class="row">
        <span class="value">
          {shown?.status === "OK" ? value?.exact : "no value"} <span class="unit">{value?.unit}</span>
        </span>
        <span class="quiet">{shown && moment(shown.timestamp)}</span>
      </figcaption>
      <div ref={frame} role="img" aria-label={`A plot of ${rounds.length} rounds. The table has the same data.`} />
    </figure>
  );
}

/** @param onPointed Called with the index under the pointer, or null when the pointer leaves. */
function draw(frame: HTMLElement, onPointed: (index: number | null) => void): uPlot {
  // CSS does not style the canvas, so the colours are computed for its frame.
  const colour = (name: string) => {
    frame.style.color = `var(--${name})`;
    return getComputedStyle(frame).color;
  };
  const axis: uPlot.Axis = {
    stroke: colour("muted"),
    grid: { stroke: colour("line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  const options: uPlot.Options = {
    width: frame.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { y: false, drag: { setScale: false, x: false }, points: { size: 8 } },
    axes: [
      { ...axis, space: 90, values: (_, times, __, ___, step) => times.map((time) => timeOf(time, step)) },
      { ...axis, size: (_, labels) => 18 + 7 * Math.max(3, ...(labels ?? []).map(({ length }) => length)), gap: 8 },
    ],
    series: [
      {},
      {
        stroke: colour("accent"),
        width: 2,
        fill: colour("wash"),
        points: { show: false },
        ...(uPlot.paths.stepped && { paths: uPlot.paths.stepped({ align: 1 }) }),
      },
    ],
    hooks: { setCursor: [({ cursor }) => onPointed(cursor.idx ?? null)] },
  };
  return new uPlot(options, [[], []], frame);
}

/** Formats a time on the axis with the precision that its steps need. */
function timeOf(seconds: number, step: number): string {
  const date = new Date(seconds * 1000);
  if (step >= 86_400) return date.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  return date.toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    ...(step < 60 && { second: "2-digit" as const }),
    hourCycle: "h23",
  });
}
