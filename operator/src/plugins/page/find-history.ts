import type { Hex } from "viem";
import type { Clock } from "../../context.js";
import type { Dataset } from "../../dataset/dataset.js";
import { type PastUpdate, readUpdatesBackwards, type UpdatesInWindow } from "../../dataset/update-events.js";
import type { Blocks } from "../../rpc/blocks.js";
import type { UpdateIndex } from "./update-index.js";

/** A key, and the index of its dataset. */
export interface IndexedKey {
  readonly dataset: Dataset;
  readonly index: UpdateIndex;
  readonly key: Hex;
}

/** Selects updates of a data point. */
export interface HistoryRange extends Blocks {
  /** The number of updates after which reading stops; those of the last block are all returned. */
  readonly limit: number;
  /** The earliest and the latest round, in seconds since 1970; null for any. */
  readonly fromTime: number | null;
  readonly toTime: number | null;
}

/** The updates of a data point in a range of blocks. */
interface History {
  /** The first block that was searched: there can be more updates before it. */
  readonly from: number;
  /** The newest first; all of each block. */
  readonly updates: readonly PastUpdate[];
  /** The newest update before `fromTime`; null if none was found, or none was looked for. */
  readonly before: PastUpdate | null;
}

/**
 * Finds the updates of a data point in the blocks up to the last one that its dataset's index has returned: in the index,
 * and on the chain where the index does not reach.
 *
 * @throws RpcError when blocks are wanted that the index does not have, and none of them can be read.
 */
export async function findHistory(indexed: IndexedKey, range: HistoryRange, clock: Clock): Promise<History> {
  const { limit, fromTime, toTime } = range;
  const updates: PastUpdate[] = [];
  let from = range.to + 1;
  for await (const window of windowsOf(indexed, range, clock)) {
    from = window.from;
    for (const update of window.updates) {
      const last = updates[limit - 1];
      // Blocks before that of the last update do not count as searched: updates in them may be left out.
      if (last !== undefined && update.blockNumber < last.blockNumber)
        return { from: last.blockNumber, updates, before: null };
      if (fromTime !== null && update.timestamp < fromTime)
        return { from: update.blockNumber, updates, before: update };
      if (toTime === null || update.timestamp <= toTime) updates.push(update);
    }
    const last = updates.at(-1);
    if (last !== undefined && updates.length >= limit) return { from: last.blockNumber, updates, before: null };
  }
  return { from: Math.max(range.from, from), updates, before: null };
}

/** Reads the updates in the index, then those that the chain has before. */
async function* windowsOf(
  { dataset, index, key }: IndexedKey,
  range: Blocks,
  clock: Clock,
): AsyncGenerator<UpdatesInWindow> {
  const { blocks: indexed } = index;
  const isCovered = range.to <= indexed.to;
  if (isCovered) {
    const from = Math.min(Math.max(indexed.from, range.from), range.to + 1);
    yield { from, updates: index.updatesOf(key, range) };
  }
  const rest = { from: range.from, to: isCovered ? Math.min(range.to, indexed.from - 1) : range.to };
  yield* readUpdatesBackwards(dataset, key, rest, clock);
}
