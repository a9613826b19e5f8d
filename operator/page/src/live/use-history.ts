import type { HistoryAnswer } from "@dataset-oracle/protocol/wire";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { getHistory, type PointId } from "../api/data";
import type { Trouble } from "../api/get";

export type PastUpdate = HistoryAnswer["updates"][number];

/** What was stored of a data point, as far as it was looked at. */
export interface History {
  /** The newest first; null before the first answer. */
  readonly updates: readonly PastUpdate[] | null;
  readonly trouble: Trouble | null;
  /** Looks further back; null where nothing is further back. */
  readonly older: (() => void) | null;
}

const LIMIT = 200;

/**
 * Reads the history once, and what is new whenever there is something new.
 *
 * @param newest The round that is stored now; null before it is known.
 */
export function useHistory(id: PointId, newest: number | null): History {
  const [updates, setUpdates] = useState<readonly PastUpdate[] | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [from, setFrom] = useState<number | null>(null);
  const isBusy = useRef(false);

  const read = useCallback(async (blocks: { from?: number; to?: number }) => {
    if (isBusy.current) return;
    isBusy.current = true;
    const got = await getHistory(id, LIMIT, blocks);
    isBusy.current = false;
    setTrouble(got.ok ? null : got.trouble);
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
  return { updates, trouble, older };
}

function merge(some: readonly PastUpdate[], others: readonly PastUpdate[]): readonly PastUpdate[] {
  const byRound = new Map([...some, ...others].map((update) => [update.timestamp, update]));
  return [...byRound.values()].sort((one, other) => other.timestamp - one.timestamp);
}
