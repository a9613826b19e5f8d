import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { formatTime } from "../format/time";
import { displayValue } from "../format/values";
import { drawnSteps, type HistoryStep, stepAt } from "../live/history";

const HEIGHT = 210;
const DARK = matchMedia("(prefers-color-scheme: dark)");
const KEYS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 };

interface Props {
  /** The oldest first; at least one. */
  readonly steps: readonly HistoryStep[];
  /** The end of the plot, in seconds since 1970. */
  readonly until: number;
  readonly point: ServedPoint;
  /** The range, in words. */
  readonly name: string;
}

/** A step under the pointer, and its place in the plot in pixels. */
interface Pointed {
  readonly index: number;
  readonly left: number;
}

/** Plots the stored values over time. The step under the pointer, or chosen with the arrow keys, is shown with all digits. */
export function HistoryPlot({ steps, until, point, name }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shown = useRef(steps);
  shown.current = steps;
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const [isDark, setDark] = useState(DARK.matches);

  useEffect(() => {
    const follow = () => setDark(DARK.matches);
    DARK.addEventListener("change", follow);
    return () => DARK.removeEventListener("change", follow);
  }, []);
  useEffect(() => {
    const { current: element } = frame;
    if (!element) return;
    const drawn = draw(element, (left, time) =>
      setPointed(left === null ? null : { index: stepAt(shown.current, time), left }),
    );
    plot.current = drawn;
    const resized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
  }, [isDark]);
  // A float is precise enough for a position in the plot. The text beside it is exact.
  const scale = 10 ** (point.format?.decimals ?? 0);
  const toNumber = (value: bigint | null) => (value === null ? null : Number(value) / scale);
  useEffect(() => {
    const all = drawnSteps(steps, until);
    plot.current?.setData([
      all.map(({ time }) => time),
      all.map(({ value }) => toNumber(value)),
      all.map(({ high }) => toNumber(high)),
      all.map(({ low }) => toNumber(low)),
    ]);
  }, [steps, isDark, until]);

  const last = steps.length - 1;
  const index = Math.min(pointed?.index ?? last, last);
  const choose = (next: number) => {
    const { current: drawn } = plot;
    const step = steps[next];
    if (!drawn || !step) return;
    const end = steps[next + 1]?.time ?? until;
    const left = drawn.valToPos((step.time + end) / 2, "x");
    drawn.setCursor({ left, top: HEIGHT / 2 }, false);
    setPointed({ index: next, left: left + drawn.bbox.left / devicePixelRatio });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = event.key === "Home" ? -last : event.key === "End" ? last : KEYS[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(last, index + to)));
  };
  // Keeps the text away from the line.
  const isHigh = (step: HistoryStep | undefined) => {
    const value = toNumber(step?.value ?? null);
    return value !== null && (plot.current?.valToPos(value, "y") ?? 0) < HEIGHT / 2;
  };
  const sideOf = (left: number) => {
    const width = frame.current?.clientWidth ?? 0;
    return left > width / 2 ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` };
  };
  const words = (step: HistoryStep | undefined) => {
    if (!step) return "";
    const { value, unit } = wordsOf(step, point);
    return `${value}${unit ? ` ${unit}` : ""}, ${formatTime(step.time)}`;
  };
  return (
    <div
      class="plot"
      role="slider"
      tabIndex={0}
      aria-label={`The stored values of ${name}. Arrow keys move between the steps.`}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={index}
      aria-valuetext={words(steps[index])}
      onKeyDown={onKeyDown}
      onBlur={() => setPointed(null)}
    >
      <div ref={frame} />
      {pointed && (
        <div class={isHigh(steps[index]) ? "tip low" : "tip"} style={sideOf(pointed.left)}>
          <Tip step={steps[index] as HistoryStep} point={point} />
        </div>
      )}
    </div>
  );
}

/** Shows one step with all digits. */
function Tip({ step, point }: { step: HistoryStep; point: ServedPoint }) {
  const { value, unit, spread } = wordsOf(step, point);
  return (
    <>
      <b>
        {value} <span class="unit">{unit}</span>
      </b>
      {spread && <span class="small">{spread}</span>}
      <span class="small quiet">{formatTime(step.time)}</span>
    </>
  );
}

function wordsOf({ value, high, low }: HistoryStep, point: ServedPoint) {
  if (value === null) return { value: "no value", unit: null, spread: null };
  const show = (number: bigint) => displayValue("median", `${number}`, point.format, point.key);
  const { exact, unit } = show(value);
  const isWide = high !== null && low !== null && high !== low;
  return { value: exact, unit, spread: isWide ? `${show(low).exact} to ${show(high).exact}` : null };
}

/** @param onPointed Called with the place under the pointer and its time, or null when the pointer leaves. */
function draw(frame: HTMLElement, onPointed: (left: number | null, time: number) => void): uPlot {
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
        (plot) => {
          const { left = -1 } = plot.cursor;
          if (left < 0) onPointed(null, 0);
          else onPointed(left + plot.bbox.left / devicePixelRatio, plot.posToVal(left, "x"));
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
