import type { HistoryAnswer } from "@dataset-oracle/protocol/http-schemas/history";
import { ok, type Result } from "@dataset-oracle/protocol/result";
import { useEffect, useRef, useState } from "preact/hooks";
import { getHistory, type HistoryRange, type PointId, type ReadError } from "../operator-api";
import { RANGES, type RangeId } from "./history-range";

/** The maximum number of updates in one answer. */
const LIMIT = 999;
/** A new value is shown at once; the history is read at most this often. */
const EVERY_MS = 12_000;
const HOURS_OF_TWO_DAYS = 48;
const FIVE_MINUTES_SECONDS = 300;

/** The part of a range's history that has been read. */
interface Read {
  readonly range: RangeId;
  readonly part: HistoryRange;
  readonly history: HistoryAnswer;
}

/**
 * Reads the history of a range, and again when a new round is stored. Where there are more rounds than one request gives, it
 * reads candles.
 *
 * @param newest The stored round.
 * @param hasCandles False for values that are not numbers.
 * @param now In seconds since 1970.
 * @returns The history, null until it has been read, with the part that was asked for; and the error if it could not be read
 * since.
 */
export function useHistory(id: PointId, range: RangeId, newest: number, hasCandles: boolean, now: number) {
  const [state, setState] = useState<Read | null>(null);
  const [error, setError] = useState<ReadError | null>(null);
  const readAt = useRef(0);
  const isKnown = state?.range === range;

  useEffect(() => {
    let isGone = false;
    const pause = error === null ? EVERY_MS : Math.max(EVERY_MS, 1000 * (error.retryAfter ?? 0));
    const read = async () => {
      readAt.current = Date.now();
      const got = await readRange(id, range, hasCandles, now);
      if (isGone) return;
      // Each failure is an object of its own, so that it is followed by another attempt.
      setError(got.ok ? null : { ...got.error });
      if (got.ok) setState({ range, ...got.value });
    };
    // A new round waits, so that fast feeds stay below the rate limit of the history.
    const timer = setTimeout(read, isKnown || error ? Math.max(0, readAt.current + pause - Date.now()) : 0);
    return () => {
      clearTimeout(timer);
      isGone = true;
    };
  }, [newest, range, error]);

  return { history: isKnown ? state.history : null, part: isKnown ? state.part : {}, error };
}

type RangeRead = Result<Omit<Read, "range">, ReadError>;

async function readRange(id: PointId, range: RangeId, hasCandles: boolean, now: number): Promise<RangeRead> {
  const { seconds, interval } = RANGES[range];
  const since = { limit: LIMIT, ...(seconds !== null && { from_time: now - seconds }) };
  const read = async (part: HistoryRange): Promise<RangeRead> => {
    const got = await getHistory(id, part);
    return got.ok ? ok({ part, history: got.value }) : got;
  };
  const rounds = await read(since);
  if (!rounds.ok || rounds.value.history.updates.length < LIMIT || !hasCandles) return rounds;
  const candles = await read({ ...since, interval });
  const count = candles.ok ? (candles.value.history.candles?.length ?? 0) : LIMIT;
  // The hourly candles of a history shorter than two days are too few for a chart.
  const isShort = seconds === null && count < HOURS_OF_TWO_DAYS;
  return isShort ? read({ ...since, interval: FIVE_MINUTES_SECONDS }) : candles;
}
