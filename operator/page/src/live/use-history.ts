import type { HistoryAnswer } from "@dataset-oracle/protocol/http-schemas/history";
import { ok, type Result } from "@dataset-oracle/protocol/result";
import { useEffect, useRef } from "preact/hooks";
import { getHistory, type HistoryRange, type PointId, type ReadError } from "../operator-api";
import { RANGES, type RangeId } from "./history-range";
import { usePolled } from "./use-polled";

/** The maximum number of updates in one answer. */
const LIMIT = 999;
/** A new value is shown at once; the history is read at most this often. */
const EVERY_MS = 12_000;
const HOURS_OF_TWO_DAYS = 48;
const FIVE_MINUTES_SECONDS = 300;

/** The part of a range's history that has been read. */
interface Read {
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
  const last = useRef<{ range: RangeId; newest: number; at: number; read: Read } | null>(null);
  const read = async () => {
    const known = last.current;
    if (known?.range === range && known.newest === newest) return ok(known.read);
    const at = Date.now();
    const got = await readRange(id, range, hasCandles, now);
    if (got.ok) last.current = { range, newest, at, read: got.value };
    return got;
  };
  const { value, error, refresh } = usePolled(range, read, EVERY_MS);

  useEffect(() => {
    // Other new rounds wait, so that fast feeds stay below the rate limit of the history.
    const isQuiet = last.current !== null && Date.now() >= last.current.at + EVERY_MS;
    if (isQuiet && error === null) refresh();
  }, [newest]);

  return { history: value?.history ?? null, part: value?.part ?? {}, error };
}

type RangeRead = Result<Read, ReadError>;

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
