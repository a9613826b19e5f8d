import { keyToAscii } from "@dataset-oracle/protocol/dataset-key";
import { HistoryAnswer, HistoryQuery, type StoredUpdate } from "@dataset-oracle/protocol/http-schemas/history";
import { formatValue } from "@dataset-oracle/protocol/value-in-json";
import type { App } from "@dataset-oracle/service/http-server/app";
import { RATE_HEADERS } from "@dataset-oracle/service/http-server/response-schemas";
import { Type } from "@sinclair/typebox";
import type { PastUpdate } from "../chain/update-events.js";
import type { DataPoint } from "../data-point.js";
import { candlesOf, intervalAt } from "../history/candles.js";
import { findHistory, type HistoryRange } from "../history/find-history.js";
import type { Dataset } from "../network.js";
import type { Operator } from "../operator.js";
import { invalidParameter, invalidQuery, rangeTooWide } from "../problems.js";
import { SingleFlight } from "../single-flight.js";
import { acceptsCsv } from "./accept-header.js";
import { addQueryStringRoute } from "./add-query-string-route.js";
import { costlyRate } from "./costly-rate.js";
import { findDataPoint } from "./find-data-point.js";
import { toCsv } from "./history-csv.js";
import { dataPointProblems, INVALID_QUERY } from "./problem-responses.js";

const DEFAULT_LIMIT = 20;
/** A caller's limit is that of data requests divided by this, because a call can cause many RPC calls. */
const COST_IN_REQUESTS = 6;
/** How long an answer is reused before the same history is read again. */
const REMEMBER_MS = 1_000;

const LINK = Type.String({ description: 'CSV only: rel="next" is the page of older updates, if there is one.' });

const schema = {
  tags: ["data"],
  operationId: "readHistory",
  summary: "Lists the updates of a data point, or candles of them.",
  description:
    "They come from the dataset's events, newest first. The operator keeps an index of the events in memory, and " +
    "reads it from the chain anew after every start. As CSV, the answer has a header line, and then a line for each " +
    "update or candle.",
  querystring: HistoryQuery,
  response: {
    200: {
      description: "The updates, from the dataset's events.",
      headers: { ...RATE_HEADERS, Link: LINK },
      content: {
        "application/json": { schema: HistoryAnswer },
        "text/csv": { schema: Type.String() },
      },
    },
    ...dataPointProblems(INVALID_QUERY, { 422: ["range_too_wide"] }),
  },
};

/** Adds `GET /history`. */
export function addHistory(app: App, operator: Operator, requestsPerMinute: number): void {
  const shared = new SingleFlight<HistoryAnswer>(operator.clock, REMEMBER_MS);
  const rate = costlyRate("history", requestsPerMinute, COST_IN_REQUESTS);
  addQueryStringRoute(app, "/history", schema, rate, async (request, reply) => {
    const { query } = request;
    const dataPoint = findDataPoint(operator.networks, query, invalidParameter);
    const { from, to, from_time, to_time, interval, limit } = query;
    const id = [dataPoint.id, from, to, from_time, to_time, interval, limit].join(" ");
    const answer = await shared.run(id, () => read(operator, dataPoint, query)).result;
    const format = query.format ?? (acceptsCsv(request.headers.accept) ? "csv" : "json");
    reply.header("vary", "accept");
    if (format === "json") return answer;
    const hasMore = answer.from > 0 && answer.candles === undefined && !answer.before;
    if (hasMore) reply.header("link", `<${nextPage(request.url, answer.from - 1)}>; rel="next"`);
    return reply.type("text/csv; charset=utf-8; header=present").send(toCsv(answer));
  });
}

async function read(operator: Operator, dataPoint: DataPoint, query: HistoryQuery): Promise<HistoryAnswer> {
  const { network, dataset, key } = dataPoint;
  const { interval } = query;
  if (interval !== undefined && dataset.kind !== "median") {
    throw invalidQuery(["interval: the values of this dataset are not numbers. Leave interval out."]);
  }
  const head = await dataset.updateIndex.refresh();
  const range = rangeOf(query, head, network.settings.historyBlocks, Math.floor(operator.clock() / 1000));
  const { from, updates, before } = await findHistory(dataPoint, range, operator.clock);
  const stored = (update: PastUpdate) => toStored(dataset, update);
  return {
    network_id: network.chainId,
    dataset: dataset.address,
    key: keyToAscii(key),
    key_hex: key,
    from,
    to: range.to,
    updates: interval === undefined ? updates.map(stored) : [],
    ...(range.fromTime !== null && { before: before && stored(before) }),
    ...(interval !== undefined && { candles: [...candlesOf(updates, interval)] }),
  };
}

/**
 * @param now Seconds since 1970.
 * @throws ProblemError when the range is empty or too wide.
 */
function rangeOf(query: HistoryQuery, head: number, historyBlocks: number, now: number): HistoryRange {
  const { from_time: fromTime = null, to_time: toTime = null, interval, limit = DEFAULT_LIMIT } = query;
  const to = Math.min(head, query.to ?? head);
  const from = query.from ?? Math.max(0, to - historyBlocks + 1);
  if (from > to) throw invalidQuery([`from: ${from} is after ${to}, the last block. Lower it.`]);
  if (fromTime !== null && toTime !== null && fromTime > toTime) {
    throw invalidQuery([`from_time: ${fromTime} is after to_time, ${toTime}. Lower it, or raise to_time.`]);
  }
  const blocks = to - from + 1;
  if (blocks > historyBlocks) throw rangeTooWide(blocks, historyBlocks);
  if (interval === undefined) return { from, to, limit, fromTime, toTime };
  const last = intervalAt(Math.min(now, toTime ?? now), interval);
  const first = Math.max(0, last - (limit - 1) * interval, intervalAt(fromTime ?? 0, interval));
  return { from, to, limit: Number.POSITIVE_INFINITY, fromTime: first, toTime };
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

/** Returns the path and query of the same request for older blocks. */
function nextPage(url: string, to: number): string {
  const [path = "", query] = url.split("?");
  const parameters = new URLSearchParams(query);
  parameters.set("to", String(to));
  parameters.set("format", "csv");
  return `${path}?${parameters}`;
}
