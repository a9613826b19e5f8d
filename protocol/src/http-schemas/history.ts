/** The schemas of `GET /history`. */

import { type Static, Type } from "@sinclair/typebox";
import { QUERY_STATUSES } from "../query-status.js";
import { Address, dataPointFields, NetworkId, namedKey, oneOf, orNull, strict, Timestamp } from "./fields.js";

const blockNumber = (description: string) => Type.Integer({ minimum: 0, maximum: 10 ** 15 - 1, description });
const historyTime = (description: string) => Type.Integer({ minimum: 0, maximum: 2 ** 40 - 1, description });

/** `GET /history`: the query. */
export const HistoryQuery = Type.Object(
  {
    ...dataPointFields,
    from: Type.Optional(blockNumber("The first block. By default the earliest block that the operator searches.")),
    to: Type.Optional(blockNumber("The last block. By default the newest one.")),
    from_time: Type.Optional(historyTime("The earliest round, in seconds since 1970. By default any.")),
    to_time: Type.Optional(historyTime("The latest round, in seconds since 1970. By default any.")),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 999,
        description: "The maximum number of updates: 20 by default, at most 999.",
      }),
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
      description: "Newest first. Each block is complete, so there can be a few more than the limit.",
    }),
    before: Type.Optional(
      orNull(
        StoredUpdate,
        "With `from_time`: the last update before the range, whose value held when it began; null if " +
          "none was found in the blocks that were searched.",
      ),
    ),
  },
  strict,
);
export type HistoryAnswer = Static<typeof HistoryAnswer>;
