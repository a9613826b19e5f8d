import type { StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";
import { ok, type Result } from "@dataset-oracle/protocol/result";
import { useEffect, useRef } from "preact/hooks";
import { getHistory, type PointId, type ReadError } from "../operator-api";
import { type History, RANGES, type RangeId } from "./history";
import { usePolled } from "./use-polled";

/** The maximum number of updates in one answer. */
const LIMIT = 999;
/** Enough for a day of a feed with a heartbeat of 30 s. The operator's limit for histories is low. */
const MAX_ANSWERS = 3;
/** A new value is shown at once; the history is read at most this often. */
const EVERY_MS = 12_000;
/** The newest rounds are read again, because a reorganization can replace them. */
const AGAIN_SECONDS = 120;

/**
 * Reads the history of a range, and the new rounds when one is stored.
 *
 * @param newest The stored round.
 * @param now In seconds since 1970.
 * @returns The history, null until it has been read, and the error if it could not be read since.
 */
export function useHistory(id: PointId, range: RangeId, newest: number, now: number) {
  const last = useRef<{ range: RangeId; newest: number; at: number; history: History } | null>(null);
  const read = async () => {
    const known = last.current?.range === range ? last.current : null;
    if (known?.newest === newest) return ok(known.history);
    const at = Date.now();
    const { seconds } = RANGES[range];
    const got = await readHistory(id, known?.history ?? null, seconds === null ? null : now - seconds);
    if (got.ok) last.current = { range, newest, at, history: got.value };
    return got;
  };
  const { value: history, error, refresh } = usePolled(range, read, EVERY_MS);

  useEffect(() => {
    if (isQuiet(last.current, Date.now()) && error === null) refresh();
  }, [newest]);

  return { history, error };
}

/**
 * Reports whether a new round is read at once, because the last reading, in milliseconds since 1970, was long ago. Other new
 * rounds wait, so that fast feeds stay below the rate limit of the history.
 */
export function isQuiet(last: { readonly at: number } | null, nowMs: number): boolean {
  return last !== null && nowMs >= last.at + EVERY_MS;
}

type HistoryRead = Result<History, ReadError>;

/**
 * Reads what is newer than the known part of a history, or all of it if none is known, or too long ago.
 *
 * @param start When the range begins, in seconds since 1970; null for everything.
 */
export async function readHistory(id: PointId, known: History | null, start: number | null): Promise<HistoryRead> {
  const newest = known?.updates[0];
  if (!known || !newest) return readAll(id, start);
  const since = newest.timestamp - AGAIN_SECONDS;
  const got = await getHistory(id, { limit: LIMIT, from_time: since });
  if (!got.ok) return got;
  if (got.value.updates.length >= LIMIT) return readAll(id, start);
  const older = known.updates.filter(({ timestamp }) => timestamp < since);
  return ok({ ...known, updates: [...got.value.updates, ...older] });
}

/** Reads a history answer by answer, from the newest rounds back. */
async function readAll(id: PointId, start: number | null): Promise<HistoryRead> {
  const updates: StoredUpdate[] = [];
  let to: number | null = null;
  for (let answers = 0; answers < MAX_ANSWERS; answers++) {
    const got = await getHistory(id, {
      limit: LIMIT,
      ...(start !== null && { from_time: start }),
      ...(to !== null && { to }),
    });
    if (!got.ok) return got;
    const { updates: more, before = null, from } = got.value;
    updates.push(...more);
    if (more.length < LIMIT || from === 0) return ok({ updates, before, isWhole: true });
    to = from - 1;
  }
  return ok({ updates, before: null, isWhole: false });
}
