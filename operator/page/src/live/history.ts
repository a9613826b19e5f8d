/** The history of a data point: its ranges, and the steps of its plot. */

import type { StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";
import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";

/** The ranges of time that the history is shown for. */
export const RANGES = {
  "1 h": { name: "the last hour", seconds: 3_600 },
  "1 d": { name: "the last day", seconds: 86_400 },
  "1 w": { name: "the last week", seconds: 604_800 },
  All: { name: "the blocks that the operator searches", seconds: null },
} as const;

export type RangeId = keyof typeof RANGES;

/** Returns the range that has a useful number of rounds, by how often the value is updated. */
export function defaultRange({ heartbeat_seconds: heartbeat }: Pick<ServedPoint, "heartbeat_seconds">): RangeId {
  if (heartbeat === null) return "1 w";
  return heartbeat <= 300 ? "1 h" : "1 d";
}

/** The stored rounds of a range, as far as they were read. */
export interface History {
  /** The newest first. */
  readonly updates: readonly StoredUpdate[];
  /** The round before them, whose value held when the range began; null if none was found. */
  readonly before: StoredUpdate | null;
  /** False if the range has earlier rounds, which were not read. */
  readonly isWhole: boolean;
}

/** A stored value, or the values of several rounds. */
export interface HistoryStep {
  /** When it begins, in seconds since 1970. */
  readonly time: number;
  /** The last value; null when the providers could not give one. */
  readonly value: bigint | null;
  readonly high: bigint | null;
  readonly low: bigint | null;
}

/**
 * Returns the steps of a history, the oldest first. The value that held when the range began is the first.
 *
 * @param start When the range begins, in seconds since 1970; null for everything.
 * @param point The value that is stored now: it can be newer than the history.
 */
export function stepsOf({ updates, before }: History, start: number | null, point: ServedPoint): HistoryStep[] {
  const rounds: Pick<ServedPoint, "timestamp" | "status" | "value">[] = updates.toReversed();
  if (before) rounds.unshift(before);
  if (point.timestamp > (updates[0]?.timestamp ?? before?.timestamp ?? 0)) rounds.push(point);
  const steps = rounds.map(({ timestamp: time, status, value: text }) => {
    const value = status === "OK" ? BigInt(text) : null;
    return { time, value, high: value, low: value };
  });
  const first = start === null ? -1 : steps.findLastIndex(({ time }) => time <= start);
  return steps.slice(Math.max(0, first)).map((step, index) => {
    return index === 0 && first !== -1 && start !== null ? { ...step, time: start } : step;
  });
}

/** Joins steps that are close to each other, so that at most about so many are left, with the highest and lowest values. */
export function thinnedSteps(steps: readonly HistoryStep[], most: number): readonly HistoryStep[] {
  const [first, last] = [steps[0], steps.at(-1)];
  if (steps.length <= most || !first || !last) return steps;
  const width = (last.time - first.time) / most;
  const slots = new Map<number, HistoryStep>();
  for (const step of steps) {
    const slot = Math.floor((step.time - first.time) / width);
    const known = slots.get(slot);
    slots.set(slot, known ? joined(known, step) : step);
  }
  return [...slots.values()];
}

/** A round without a value changes nothing where there are others. */
function joined(a: HistoryStep, b: HistoryStep): HistoryStep {
  if (b.value === null || b.high === null || b.low === null) return a;
  if (a.high === null || a.low === null) return { ...b, time: a.time };
  const { high } = b.high > a.high ? b : a;
  const { low } = b.low < a.low ? b : a;
  return { time: a.time, value: b.value, high, low };
}

/** A line ends at its last point with a value, and two points of a plot cannot have one time. */
const JUST_BEFORE_SECONDS = 0.001;

/**
 * Returns the steps between which a plot draws its line: a value holds until the next round, also if that has none, and the
 * last one until the end.
 *
 * @param steps At least one.
 * @param until The end of the plot, in seconds since 1970.
 */
export function drawnSteps(steps: readonly HistoryStep[], until: number): readonly HistoryStep[] {
  const last = steps.at(-1) as HistoryStep;
  return [...steps, { ...last, time: Math.max(until, last.time + 1) }].flatMap((step, index) => {
    const before = steps[index - 1];
    const isEnd = step.value === null && before !== undefined && before.value !== null;
    return isEnd ? [{ ...before, time: step.time - JUST_BEFORE_SECONDS }, step] : [step];
  });
}

/** Returns the index of the step that holds at a time; 0 for a time before all of them. */
export function stepAt(steps: readonly HistoryStep[], time: number): number {
  return Math.max(
    0,
    steps.findLastIndex((step) => step.time <= time),
  );
}
