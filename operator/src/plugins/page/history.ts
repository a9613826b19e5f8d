import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { HistoryAnswer, HistoryQuery, type StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import type { App } from "@dataset-oracle/service/http-server/app";
import { problem } from "@dataset-oracle/service/http-server/problem-error";
import { jsonAnswer } from "@dataset-oracle/service/http-server/response-schemas";
import type { Hex } from "viem";
import type { Clock } from "../../context.js";
import type { Dataset } from "../../dataset/dataset.js";
import { type PastUpdate, readUpdatesBackwards, type UpdatesInWindow } from "../../dataset/update-events.js";
import { invalidMember } from "../../problems.js";
import { findDataPoint } from "../../routes/find-data-point.js";
import { problemsOf } from "../../routes/problem-responses.js";
import { addQueryStringRoute } from "../../routes/query-string-route.js";
import type { Blocks } from "../../rpc/blocks.js";
import { SingleFlight } from "../../single-flight.js";
import type { UpdateIndex, UpdateIndexes } from "./update-index.js";

const DEFAULT_LIMIT = 20;
/** A caller's limit is that of data requests divided by this, because a call can cause many RPC calls. */
const COST_IN_REQUESTS = 6;
/** How long an answer is reused before the same history is read again. */
const REMEMBER_MS = 1_000;

const schema = {
  tags: ["data"],
  operationId: "readHistory",
  summary: "Lists the updates of a data point.",
  description:
    "They come from the dataset's events, newest first. The operator keeps an index of the events in memory, and " +
    "reads it from the chain anew after every start.",
  querystring: HistoryQuery,
  response: { 200: jsonAnswer("The updates, from the dataset's events.", HistoryAnswer), ...problemsOf("readHistory") },
};

/** Adds `GET /history`. */
export function addHistory(app: App, indexes: UpdateIndexes, requestsPerMinute: number): void {
  const { context, networks } = app.operator;
  const shared = new SingleFlight<HistoryAnswer>(context.clock, REMEMBER_MS);
  const rate = { name: "history", perMinute: Math.ceil(requestsPerMinute / COST_IN_REQUESTS) };
  addQueryStringRoute(app, "/history", schema, rate, async (query) => {
    const { dataset, key } = findDataPoint(networks, query, "invalid_query");
    const { from, to, from_time, to_time, limit } = query;
    const id = [dataset.chainId, dataset.address, key, from, to, from_time, to_time, limit].join(" ");
    const indexed = { dataset, key, index: indexes.of(dataset) };
    return shared.run(id, () => read(indexed, query, context.clock)).result;
  });
}

async function read(indexed: IndexedKey, query: HistoryQuery, clock: Clock): Promise<HistoryAnswer> {
  const { dataset, index, key } = indexed;
  const head = await index.refresh();
  const range = rangeOf(query, head, index.limits.historyBlocks);
  const { from, updates, before } = await findHistory(indexed, range, clock);
  return {
    network_id: dataset.chainId,
    dataset: dataset.address,
    key: keyToAscii(key),
    key_hex: key,
    from,
    to: range.to,
    updates: updates.map((update) => toStored(dataset, update)),
    ...(range.fromTime !== null && { before: before && toStored(dataset, before) }),
  };
}

/** @throws ProblemError when the range is empty or too wide. */
function rangeOf(query: HistoryQuery, head: number, historyBlocks: number): HistoryRange {
  const { from_time: fromTime = null, to_time: toTime = null, limit = DEFAULT_LIMIT } = query;
  const to = Math.min(head, query.to ?? head);
  const from = query.from ?? Math.max(0, to - historyBlocks + 1);
  if (from > to) throw invalidMember("invalid_query", "from", `${from} is after ${to}, the last block. Lower it.`);
  if (fromTime !== null && toTime !== null && fromTime > toTime) {
    const fault = `${fromTime} is after to_time, ${toTime}. Lower it, or raise to_time.`;
    throw invalidMember("invalid_query", "from_time", fault);
  }
  const blocks = to - from + 1;
  if (blocks > historyBlocks) throw problem("range_too_wide", { blocks, max: historyBlocks });
  return { from, to, limit, fromTime, toTime };
}

function toStored({ kind }: Dataset, update: PastUpdate): StoredUpdate {
  const { status, value, timestamp, blockNumber, transactionHash } = update;
  return {
    status,
    value: formatValue(kind, value),
    timestamp: Number(timestamp),
    block_number: blockNumber,
    transaction_hash: transactionHash,
  };
}

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
