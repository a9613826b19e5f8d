import { keyToAscii } from "@dataset-oracle/protocol/key";
import { HistoryAnswer, HistoryQuery } from "@dataset-oracle/protocol/wire";
import type { App } from "@dataset-oracle/service/app";
import { RATE_HEADERS } from "@dataset-oracle/service/openapi";
import { readBlockNumber } from "../chain/client.js";
import { readHistory, type Span } from "../chain/history.js";
import { findDataPoint } from "../data-point.js";
import type { Network } from "../network.js";
import type { Operator } from "../operator.js";
import { invalidQuery, rangeTooWide } from "../problems.js";
import { formatValue } from "../update/answer.js";
import { checkQuery, INVALID_QUERY, plainIntegers } from "./check-query.js";
import { dataPointProblems } from "./openapi.js";

const DEFAULT_LIMIT = 20;
/** Its rate limit is this much lower than that of requests: each can make many calls to the RPC. */
const REQUESTS_PER_CALL = 6;

const schema = {
  tags: ["data"],
  operationId: "readHistory",
  summary: "Lists the updates of a data point.",
  description: "They are read from the dataset's events, newest first. The operator itself stores no history.",
  querystring: HistoryQuery,
  response: {
    200: {
      description: "The updates, from the dataset's events.",
      headers: RATE_HEADERS,
      content: { "application/json": { schema: HistoryAnswer } },
    },
    ...dataPointProblems(INVALID_QUERY, { 422: ["range_too_wide"] }),
  },
};

/** Adds `GET /history`. */
export function addHistory(app: App, operator: Operator, requestsPerMinute: number): void {
  const config = { rate: { name: "history", perMinute: Math.ceil(requestsPerMinute / REQUESTS_PER_CALL) } };
  const preValidation = plainIntegers(HistoryQuery);
  app.get(
    "/history",
    { schema, config, preValidation, attachValidation: true },
    async (request): Promise<HistoryAnswer> => {
      checkQuery(request);
      const { query } = request;
      const { network, dataset, key } = findDataPoint(operator.networks, query);
      const span = await spanOf(network, query);
      const { from, updates } = await readHistory(network.client, dataset.address, key, span, operator.clock);
      return {
        network_id: network.chainId,
        dataset: dataset.address,
        key: keyToAscii(key),
        key_hex: key,
        from,
        to: span.to,
        updates: updates.map(({ status, value, timestamp, blockNumber, transactionHash }) => ({
          status,
          value: formatValue(dataset.kind, value),
          timestamp: Number(timestamp),
          block_number: blockNumber,
          transaction_hash: transactionHash,
        })),
      };
    },
  );
}

/** @throws ProblemError when the range is empty or too wide. */
async function spanOf({ client, settings: { historyBlocks } }: Network, query: HistoryQuery): Promise<Span> {
  const head = await readBlockNumber(client);
  const to = Math.min(head, query.to ?? head);
  const from = query.from ?? Math.max(0, to - historyBlocks + 1);
  if (from > to) throw invalidQuery([`from: ${from} is after ${to}, the last block.`]);
  const blocks = to - from + 1;
  if (blocks > historyBlocks) throw rangeTooWide(blocks, historyBlocks);
  return { from, to, limit: query.limit ?? DEFAULT_LIMIT };
}
