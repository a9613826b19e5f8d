import { formatDeviation } from "../format/number";
import type { HistoryStep } from "./history-steps";

/** The change and the extremes of a value over a range. */
interface Summary {
  /** In per cent; null if it began at 0. */
  readonly change: string | null;
  readonly high: bigint;
  readonly low: bigint;
}

/** Returns null if there was no value. */
export function summaryOf(steps: readonly HistoryStep[]): Summary | null {
  const known = steps.flatMap(({ value, high, low }) =>
    value === null || high === null || low === null ? [] : [{ value, high, low }],
  );
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return null;
  let { high, low } = first;
  for (const step of known) {
    if (step.high > high) high = step.high;
    if (step.low < low) low = step.low;
  }
  return { change: formatDeviation(last.value, first.value), high, low };
}
