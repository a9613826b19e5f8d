import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { HistoryAnswer, HistoryQuery, type StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import type { App } from "@dataset-oracle/service/http-server/app";
import { jsonAnswer } from "@dataset-oracle/service/http-server/openapi";
import { type Hex, keccak256 } from "viem";
import type { Dataset } from "../../dataset/dataset.js";
import { type PastUpdate, readUpdates } from "../../dataset/update-events.js";
import { findDataPoint } from "../../routes/find-data-point.js";
import { problemsOf } from "../../routes/problem-responses.js";
import { invalidMember, problem } from "../../routes/problems.js";
import type { Blocks } from "../../rpc/blocks.js";
import { SingleFlight } from "../../single-flight.js";
import type { ShownNetworkOf } from "./overview.js";
import type { PastUpdates } from "./past-updates.js";

const DEFAULT_LIMIT = 20;
/** A caller's limit is that of data requests divided by this, because a call can cause many RPC calls. */
const COST_IN_REQUESTS = 6;
/** How long an answer is reused before the same history is read again. */
const REMEMBER_MS = 1_000;
/** How long one request reads. */
const MAX_MS = 10_000;

const schema = {
  tags: ["data"],
  operationId: "readHistory",
  summary: "Lists the updates of a data point.",
  description:
    "They come from the dataset's events, newest first. The operator keeps what it has read in memory, and reads it from " +
    "the chain anew after every start. `examples/indexer` keeps all updates in a database.",
  querystring: HistoryQuery,
  response: { 200: jsonAnswer("The updates, from the dataset's events.", HistoryAnswer), ...problemsOf("readHistory") },
};

/** Adds `GET /history`. */
export function addHistory(app: App, shownOf: ShownNetworkOf, requestsPerMinute: number): void {
  const { context } = app.operator;
  const shared = new SingleFlight<HistoryAnswer>(context.clock, { rememberMs: REMEMBER_MS });
  const config = { rate: { name: "history", perMinute: Math.ceil(requestsPerMinute / COST_IN_REQUESTS) } };

  async function read(dataset: Dataset, key: Hex, query: HistoryQuery): Promise<HistoryAnswer> {
    const { past, plan } = shownOf(dataset);
    const range = rangeOf(query, await past.readHead(), plan.settings.historyBlocks);
    const { from, updates, before } = await findHistory(past, dataset, key, range);
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

  app.get("/history", { schema, config }, async ({ query }) => {
    const { dataset, key } = findDataPoint(app.operator, query, "invalid_query");
    const { from, to, from_time, to_time, limit } = query;
    const id = [dataset.chainId, dataset.address, key, from, to, from_time, to_time, limit].join(" ");
    return shared.run(id, () => read(dataset, key, query)).result;
  });
}

/** @throws ProblemError when the range is empty or too wide. */
export function rangeOf(query: Partial<HistoryQuery>, head: number, historyBlocks: number): HistorySelection {
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

/** Selects updates of a data point. */
interface HistorySelection extends Blocks {
  /** The number of updates after which reading stops; those of the last block are all returned. */
  readonly limit: number;
  /** The earliest and the latest round, in seconds since 1970; null for any. */
  readonly fromTime: number | null;
  readonly toTime: number | null;
}

/** The updates of a data point in a range of blocks. */
interface FoundHistory {
  /** The first block that was searched: there can be more updates before it. */
  readonly from: number;
  /** The newest first; all of each block. */
  readonly updates: readonly PastUpdate[];
  /** The newest update before `fromTime`; null if none was found, or none was looked for. */
  readonly before: PastUpdate | null;
}

/**
 * Finds the updates of a data point in a range of blocks, backwards from its end.
 *
 * @throws RpcError
 */
export async function findHistory(
  past: PastUpdates,
  dataset: Dataset,
  key: Hex,
  range: HistorySelection,
  maxMs = MAX_MS,
): Promise<FoundHistory> {
  const { limit, fromTime, toTime } = range;
  const keyHash = keccak256(key);
  const source = {
    id: `${dataset.address} ${keyHash}`,
    read: (from: number, to: number) => readUpdates(dataset, keyHash, from, to),
  };
  const updates: PastUpdate[] = [];
  let from = range.to + 1;
  for await (const window of past.backwards(source, range, maxMs)) {
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
  return { from, updates, before: null };
}
