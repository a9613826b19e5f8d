import uPlot from "uplot";
import type { Colours } from "../live/use-colours";

/** A plot that is shown in a frame. */
export interface Plot {
  /** Shows values over time: seconds since 1970, ascending, and null for gaps. */
  show(times: readonly number[], values: readonly (number | null)[]): void;
  close(): void;
}

const HEIGHT = 220;

/** @param onPointed Called with the index under the pointer, or null when the pointer leaves. */
export function drawPlot(frame: HTMLElement, colours: Colours, onPointed: (index: number | null) => void): Plot {
  const axis = {
    stroke: colours.muted,
    grid: { stroke: colours.line, width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  const plot = new uPlot(
    {
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
          stroke: colours.accent,
          width: 2,
          fill: colours.wash,
          points: { show: false },
          ...(uPlot.paths.stepped && { paths: uPlot.paths.stepped({ align: 1 }) }),
        },
      ],
      hooks: { setCursor: [({ cursor }) => onPointed(cursor.idx ?? null)] },
    },
    [[], []],
    frame,
  );
  const resized = new ResizeObserver(() => plot.setSize({ width: frame.clientWidth, height: HEIGHT }));
  resized.observe(frame);
  return {
    show: (times, values) => plot.setData([[...times], [...values]]),
    close() {
      resized.disconnect();
      plot.destroy();
    },
  };
}

/** Formats a time on the axis with the precision that its steps need. */
function timeOf(seconds: number, step: number): string {
  const date = new Date(seconds * 1000);
  if (step >= 86_400) return date.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  const time = { hour: "2-digit", minute: "2-digit", ...(step < 60 && { second: "2-digit" as const }) } as const;
  return date.toLocaleTimeString(undefined, { ...time, hourCycle: "h23" });
}
