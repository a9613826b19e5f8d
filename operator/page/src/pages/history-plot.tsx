import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { formatTime } from "../format/time";
import { displayValue } from "../format/values";
import { drawnSteps, type HistoryStep, stepAt } from "../live/history";

const HEIGHT = 210;
const DARK = matchMedia("(prefers-color-scheme: dark)");
const KEYS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 };

interface HistoryPlotProps {
  /** The oldest first; at least one. */
  readonly steps: readonly HistoryStep[];
  /** The start of the plot, in seconds since 1970; null for that of the first step. */
  readonly from: number | null;
  /** The end of the plot, in seconds since 1970. */
  readonly until: number;
  readonly point: ServedPoint;
  /** The range, in words. */
  readonly name: string;
}

/**
 * Plots the stored values over time. The step under the pointer, or chosen with the arrow keys, is shown above with all
 * digits: without either, the newest.
 */
export function HistoryPlot({ steps, from, until, point, name }: HistoryPlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shown = useRef(steps);
  shown.current = steps;
  const range = useRef<uPlot.Range.MinMax>([0, 0]);
  // Not only the part of the range that has values.
  range.current = [from ?? steps[0]?.time ?? until, until];
  const [pointed, setPointed] = useState<number | null>(null);
  const isDark = useIsDark();

  useEffect(() => {
    const { current: element } = frame;
    if (!element) return;
    const drawn = draw(
      element,
      (time) => setPointed(time === null ? null : stepAt(shown.current, time)),
      () => range.current,
    );
    plot.current = drawn;
    const resized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
  }, [isDark]);
  useEffect(() => {
    // A float is precise enough for a position in the plot. The text above it is exact.
    const scale = 10 ** (point.format?.decimals ?? 0);
    const column = (values: readonly (bigint | null)[]) =>
      values.map((value) => (value === null ? null : Number(value) / scale));
    const all = drawnSteps(steps, until);
    plot.current?.setData([
      all.map(({ time }) => time),
      column(all.map(({ value }) => value)),
      column(all.map(({ high }) => high)),
      column(all.map(({ low }) => low)),
    ]);
  }, [steps, isDark, until]);

  const last = steps.length - 1;
  const index = Math.min(pointed ?? last, last);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === "Home" ? -last : event.key === "End" ? last : KEYS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(last, index + by));
    const end = steps[next + 1]?.time ?? until;
    const middle = ((steps[next]?.time ?? until) + end) / 2;
    plot.current?.setCursor({ left: plot.current.valToPos(middle, "x"), top: HEIGHT / 2 }, false);
    setPointed(next);
  };
  const { time, value, spread } = wordsOf(steps[index] as HistoryStep, point);
  return (
    <>
      <p class="row">
        <b class="pointed">{value}</b> {spread && <span class="small quiet">{spread}</span>}{" "}
        <span class="small quiet">{time}</span>
      </p>
      <div
        class="plot"
        ref={frame}
        role="slider"
        tabIndex={0}
        aria-label={`The stored values of ${name}. Arrow keys move between the steps.`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={index}
        aria-valuetext={`${value}, ${time}`}
        onKeyDown={onKeyDown}
        onBlur={() => setPointed(null)}
      />
    </>
  );
}

function useIsDark(): boolean {
  const [isDark, setDark] = useState(DARK.matches);
  useEffect(() => {
    const follow = () => setDark(DARK.matches);
    DARK.addEventListener("change", follow);
    return () => DARK.removeEventListener("change", follow);
  }, []);
  return isDark;
}

/** Describes a step with all digits, and its lowest and highest value if it has several. */
function wordsOf({ time, value, high, low }: HistoryStep, point: ServedPoint) {
  const show = (number: bigint | null) => {
    if (number === null) return "no value";
    const { text, unit } = displayValue("median", `${number}`, point.format, point.key);
    return unit === null ? text : `${text} ${unit}`;
  };
  return { time: formatTime(time), value: show(value), spread: high === low ? "" : `${show(low)} to ${show(high)}` };
}

/**
 * @param onPointed Called with the time under the pointer, or null when the pointer leaves.
 * @param range Returns the start and the end of the plot.
 */
function draw(frame: HTMLElement, onPointed: (time: number | null) => void, range: () => uPlot.Range.MinMax): uPlot {
  // CSS does not style the canvas, so the colours are computed for its frame.
  const colour = (name: string) => {
    frame.style.color = `var(--${name})`;
    const computed = getComputedStyle(frame).color;
    frame.style.color = "";
    return computed;
  };
  const axis: uPlot.Axis = {
    stroke: colour("muted"),
    grid: { stroke: colour("line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  const stepped = uPlot.paths.stepped && { paths: uPlot.paths.stepped({ align: 1 }) };
  const line = { points: { show: false }, ...stepped };
  const options: uPlot.Options = {
    width: frame.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    // On the right there is room for half of the last time.
    padding: [10, 30, 0, 0],
    cursor: { y: false, drag: { setScale: false, x: false }, points: { show: false } },
    scales: { x: { range } },
    axes: [
      { ...axis, size: 30, space: 90, values: (_, times, __, ___, step) => times.map((time) => timeOf(time, step)) },
      {
        ...axis,
        size: (_, labels) => 18 + 7.5 * Math.max(3, ...(labels ?? []).map(({ length }) => length)),
        gap: 8,
        values: (_, marks, __, ___, step) => marks.map((mark) => numberOf(mark, step)),
      },
    ],
    series: [
      {},
      { ...line, stroke: colour("accent"), width: 2, fill: colour("wash") },
      { ...line, width: 0 },
      { ...line, width: 0 },
    ],
    bands: [{ series: [2, 3], fill: colour("wash") }],
    hooks: {
      setCursor: [
        ({ cursor: { left = -1 }, posToVal }) => {
          onPointed(left < 0 ? null : posToVal(left, "x"));
        },
      ],
    },
  };
  return new uPlot(options, [[], [], [], []], frame);
}

/**
 * Formats a mark of the vertical axis with as many decimals as the distance between marks needs, so that all marks have
 * the same number.
 */
function numberOf(mark: number, step: number): string {
  let decimals = 0;
  while (decimals < 18 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals++;
  return mark.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
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
