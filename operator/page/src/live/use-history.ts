import type { HistoryAnswer } from "@dataset-oracle/protocol/wire";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { getHistory, type PointId } from "../api/data";
import type { ReadError } from "../api/get";

export type PastUpdate = HistoryAnswer["updates"][number];

/** The earlier updates of a data point, as far as they have been read. */
export interface History {
  /** Newest first; null until the first answer. */
  readonly updates: readonly PastUpdate[] | null;
  readonly error: ReadError | null;
  /** Reads older updates; null if all blocks have been read. */
  readonly older: (() => void) | null;
}

const LIMIT = 200;

/**
 * Reads the history, and again whenever a new round is stored.
 *
 * @param newest The stored round; null until it is known.
 */
export function useHistory(id: PointId, newest: number | null): History {
  const [updates, setUpdates] = useState<readonly PastUpdate[] | null>(null);
  const [error, setError] = useState<ReadError | null>(null);
  const [from, setFrom] = useState<number | null>(null);
  const isBusy = useRef(false);

  const read = useCallback(async (blocks: { from?: number; to?: number }) => {
    if (isBusy.current) return;
    isBusy.current = true;
    const got = await getHistory(id, LIMIT, blocks);
    isBusy.current = false;
    setError(got.ok ? null : got.error);
    if (!got.ok) return;
    setUpdates((before) => merge(before ?? [], got.value.updates));
    setFrom((before) => Math.min(before ?? got.value.from, got.value.from));
  }, []);

  const known = updates?.[0];
  useEffect(() => {
    if (newest === null || known?.timestamp === newest) return;
    void read(known ? { from: known.block_number } : {});
  }, [newest, known?.timestamp]);

  const older = from !== null && from > 0 ? () => void read({ to: from - 1 }) : null;
  return { updates, error, older };
}

function merge(some: readonly PastUpdate[], others: readonly PastUpdate[]): readonly PastUpdate[] {
  const byRound = new Map([...some, ...others].map((update) => [update.timestamp, update]));
  return [...byRound.values()].sort((one, other) => other.timestamp - one.timestamp);
}
