import type { HistoryAnswer } from "@dataset-oracle/protocol/wire";
import { useEffect, useRef, useState } from "preact/hooks";
import { getHistory, type PointId, type ReadError } from "../operator";

export type PastUpdate = HistoryAnswer["updates"][number];

const LIMIT = 200;

/**
 * Reads the history, and again whenever a new round is stored.
 *
 * @param newest The stored round.
 * @returns The updates that have been read, newest first, null until the first answer; and a function that reads older
 * ones, null if all blocks have been read.
 */
export function useHistory(id: PointId, newest: number) {
  const [updates, setUpdates] = useState<readonly PastUpdate[] | null>(null);
  const [error, setError] = useState<ReadError | null>(null);
  const [from, setFrom] = useState(Number.POSITIVE_INFINITY);
  const isBusy = useRef(false);

  const read = async (blocks: { from?: number; to?: number }) => {
    if (isBusy.current) return;
    isBusy.current = true;
    const got = await getHistory(id, LIMIT, blocks);
    isBusy.current = false;
    setError(got.ok ? null : got.error);
    if (!got.ok) return;
    setUpdates((before) => merge(before ?? [], got.value.updates));
    setFrom((before) => Math.min(before, got.value.from));
  };

  const known = updates?.[0];
  useEffect(() => {
    if (known?.timestamp !== newest) void read(known ? { from: known.block_number } : {});
  }, [newest, known?.timestamp]);

  const hasOlder = from > 0 && Number.isFinite(from);
  return { updates, error, older: hasOlder ? () => void read({ to: from - 1 }) : null };
}

function merge(some: readonly PastUpdate[], others: readonly PastUpdate[]): readonly PastUpdate[] {
  const byRound = new Map([...some, ...others].map((update) => [update.timestamp, update]));
  return [...byRound.values()].sort((one, other) => other.timestamp - one.timestamp);
}
