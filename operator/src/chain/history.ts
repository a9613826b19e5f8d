import type { Address, Hex } from "viem";
import type { Clock } from "../clock.js";
import type { ChainClient } from "./client.js";
import { type PastUpdate, readUpdates } from "./dataset.js";
import { RpcError } from "./rpc-error.js";

/** The updates of a data point in some blocks. */
export interface History {
  /** The first block that was looked at: there can be more before it. */
  readonly from: number;
  /** The newest first; all of each block. */
  readonly updates: readonly PastUpdate[];
}

export interface Span {
  /** Block numbers, both inclusive. */
  readonly from: number;
  readonly to: number;
  /** About how many updates are wanted. */
  readonly limit: number;
}

const FIRST_WINDOW = 2_000;
const MAX_CALLS = 100;
const MAX_MS = 10_000;

/**
 * Reads the updates of a data point back from a block, until there are enough, or it took too long. Nodes bound the logs
 * of one call, each in its own way and words: a window that is refused is halved.
 *
 * @throws RpcError when not even one block can be read.
 */
export async function readHistory(
  client: ChainClient,
  dataset: Address,
  key: Hex,
  span: Span,
  clock: Clock,
): Promise<History> {
  const giveUpAt = clock() + MAX_MS;
  const updates: PastUpdate[] = [];
  let window = FIRST_WINDOW;
  let next = span.to;
  for (let calls = 0; next >= span.from && updates.length < span.limit; calls++) {
    const hasRead = next < span.to;
    if (hasRead && (calls === MAX_CALLS || clock() > giveUpAt)) break;
    const first = Math.max(span.from, next - window + 1);
    try {
      updates.push(...(await readUpdates(client, dataset, key, first, next)).toReversed());
      next = first - 1;
    } catch (error) {
      if (!(error instanceof RpcError) || error.kind !== "refused" || window === 1) throw error;
      window = Math.ceil(Math.min(window, next - first + 1) / 2);
    }
  }
  const last = updates[span.limit - 1];
  if (last === undefined) return { from: next + 1, updates };
  return { from: last.blockNumber, updates: updates.filter(({ blockNumber }) => blockNumber >= last.blockNumber) };
}
