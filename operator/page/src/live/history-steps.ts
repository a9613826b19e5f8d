import type { HistoryAnswer } from "@dataset-oracle/protocol/http-schemas/history";
import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";

/** A line ends at its last point with a value, and two points of a plot cannot have one time. */
const JUST_BEFORE_SECONDS = 0.001;

/** A stored value, or the values that were stored in one interval. */
export interface HistoryStep {
  /** When it begins, in seconds since 1970. */
  readonly time: number;
  /** The last value; null when the providers could not give one. */
  readonly value: bigint | null;
  readonly high: bigint | null;
  readonly low: bigint | null;
}

/**
 * Returns the steps of a history in a range, the oldest first. The value that held when the range began is the first.
 *
 * @param start When the range begins, in seconds since 1970; null for everything.
 * @param point The value that is stored now: it can be newer than the history.
 */
export function stepsOf(history: HistoryAnswer, start: number | null, point: ServedPoint): readonly HistoryStep[] {
  const { updates, candles, before } = history;
  const stepOf = ({ timestamp, status, value }: Pick<ServedPoint, "timestamp" | "status" | "value">): HistoryStep => {
    const known = status === "OK" ? BigInt(value) : null;
    return { time: timestamp, value: known, high: known, low: known };
  };
  const inRange: HistoryStep[] = candles
    ? candles.map(({ start: time, close, high, low }) => ({
        ...{ time: Math.max(time, start ?? 0), value: BigInt(close) },
        ...{ high: BigInt(high), low: BigInt(low) },
      }))
    : updates.map(stepOf);
  const steps = [...(before ? [{ ...stepOf(before), time: start ?? before.timestamp }] : []), ...inRange.toReversed()];
  const last = steps.at(-1);
  if (point.timestamp > (candles ? (candles[0]?.start ?? 0) : (last?.time ?? 0))) {
    const current = stepOf(point);
    if (current.value !== last?.value) steps.push(current);
  }
  return steps.filter(({ time }, index) => index === 0 || time > (steps[index - 1]?.time ?? 0));
}

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
  let [low, high] = [0, steps.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((steps[middle]?.time ?? 0) <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}
