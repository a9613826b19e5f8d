import type { Blocks } from "../chain/read-blocks.js";
import { type PastUpdate, readUpdatesBackwards } from "../chain/update-events.js";
import type { DataPoint } from "../data-point.js";
import type { Clock } from "../process-context.js";

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
export async function findHistory(
  { network, dataset, key }: DataPoint,
  range: HistoryRange,
  clock: Clock,
): Promise<History> {
  const { updateIndex } = dataset;
  const { from, to } = updateIndex.blocks;
  const found = new Found(range);
  const isCovered = range.to <= to;
  if (isCovered && found.take(updateIndex.updatesOf(key, range))) return found.history(Math.max(from, range.from));
  const rest = { from: range.from, to: isCovered ? Math.min(range.to, from - 1) : range.to };
  const take = (updates: readonly PastUpdate[]) => found.take(updates);
  const first = await readUpdatesBackwards(network.client, dataset.address, key, rest, clock, take);
  return found.history(Math.max(range.from, first));
}

/** Collects updates, from the newest on, until there are enough. */
class Found {
  readonly #updates: PastUpdate[] = [];
  #before: PastUpdate | null = null;
  #isComplete = false;

  constructor(private readonly range: HistoryRange) {}

  /** @param updates Those of some whole blocks, the newest first. @returns True once there are enough. */
  take(updates: readonly PastUpdate[]): boolean {
    const { limit, fromTime, toTime } = this.range;
    for (const update of updates) {
      const last = this.#updates[limit - 1];
      if (last !== undefined && update.blockNumber < last.blockNumber) {
        this.#isComplete = true;
      } else if (fromTime !== null && update.timestamp < fromTime) {
        this.#before = update;
        this.#isComplete = true;
      } else if (toTime === null || update.timestamp <= toTime) {
        this.#updates.push(update);
      }
      if (this.#isComplete) return true;
    }
    this.#isComplete = this.#updates.length >= limit;
    return this.#isComplete;
  }

  /** @param first The first block that was read. */
  history(first: number): History {
    // Blocks before that of the last update do not count as searched: updates in them may have been dropped.
    const from = this.#isComplete ? (this.#before ?? this.#updates.at(-1))?.blockNumber : undefined;
    return { from: from ?? first, updates: this.#updates, before: this.#before };
  }
}
