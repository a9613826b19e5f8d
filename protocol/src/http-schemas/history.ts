/** The schemas of `GET /history`. */

import { type Static, Type } from "@sinclair/typebox";
import { QUERY_STATUSES } from "../query-status.js";
import { Address, dataPointFields, NetworkId, namedKey, oneOf, orNull, strict, Timestamp } from "./fields.js";

const blockNumber = (description: string) => Type.Integer({ minimum: 0, maximum: 10 ** 15 - 1, description });
const historyTime = (description: string) => Type.Integer({ minimum: 0, maximum: 2 ** 40 - 1, description });

/** The forms in which `GET /history` answers. */
export const HISTORY_FORMATS = ["json", "csv"] as const;

/** `GET /history`: the query. */
export const HistoryQuery = Type.Object(
  {
    ...dataPointFields,
    from: Type.Optional(blockNumber("The first block. By default the earliest block that the operator searches.")),
    to: Type.Optional(blockNumber("The last block. By default the newest one.")),
    from_time: Type.Optional(historyTime("The earliest round, in seconds since 1970. By default any.")),
    to_time: Type.Optional(historyTime("The latest round, in seconds since 1970. By default any.")),
    interval: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 2_592_000,
        description:
          "Answers with candles of this many seconds instead of updates: open, high, low and close of each interval. " +
          "The intervals are counted from 1970, in UTC. For median datasets.",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 999,
        description: "The maximum number of updates, or of intervals: 20 by default, at most 999.",
      }),
    ),
    format: Type.Optional(
      oneOf(HISTORY_FORMATS, "The form of the answer. By default CSV if the Accept header names text/csv, else JSON."),
    ),
  },
  strict,
);
export type HistoryQuery = Static<typeof HistoryQuery>;

const StoredUpdate = Type.Object(
  {
    status: oneOf(QUERY_STATUSES),
    value: Type.String({ description: "In the form of a data request's `value`." }),
    timestamp: Timestamp,
    block_number: Type.Integer(),
    transaction_hash: Type.String(),
  },
  strict,
);
/** An update that was stored, as `GET /history` answers it. */
export type StoredUpdate = Static<typeof StoredUpdate>;

const candleValue = (description: string) => Type.String({ description: `${description}, as a decimal string.` });

/** The updates of one interval. Updates without a value are counted in `updates`, and change nothing else. */
export const Candle = Type.Object(
  {
    start: Type.Integer({ description: "The beginning of the interval, in seconds since 1970." }),
    open: candleValue("The first value stored in the interval"),
    high: candleValue("The highest value"),
    low: candleValue("The lowest value"),
    close: candleValue("The last value, which holds until the next update"),
    updates: Type.Integer({ description: "The number of updates in the interval." }),
  },
  strict,
);
export type Candle = Static<typeof Candle>;

/** `GET /history`: the answer. */
export const HistoryAnswer = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    ...namedKey,
    from: Type.Integer({
      description: "The first block that was searched. For older updates, set `to` to the block before it.",
    }),
    to: Type.Integer({ description: "The last block that was searched." }),
    updates: Type.Array(StoredUpdate, {
      description:
        "Newest first. Each block is complete, so there can be a few more than the limit. Empty if an interval was " +
        "asked for.",
    }),
    before: Type.Optional(
      orNull(
        StoredUpdate,
        "With `from_time` or `interval`: the last update before the range, whose value held when it began; null if " +
          "none was found in the blocks that were searched.",
      ),
    ),
    candles: Type.Optional(
      Type.Array(Candle, {
        description:
          "With `interval`: newest first. An interval without a stored value has none. If the search ended within an " +
          "interval, its candle covers only what was found.",
      }),
    ),
  },
  strict,
);
export type HistoryAnswer = Static<typeof HistoryAnswer>;
