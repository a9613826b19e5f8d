/** The schemas of the HTTP bodies and queries between nodes. */

import { type Static, Type } from "@sinclair/typebox";
import { DataAnswer } from "./data-request.js";
import { Address, datasetFields, HexKey, NetworkId, orNull, strict, Timestamp } from "./fields.js";
import { SignedBatchReport, SignedReport } from "./reports.js";

/** `POST /data/request/forwarded`: the body. */
export const ForwardedRequest = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    key: HexKey,
    timestamp: Type.Integer({
      ...Timestamp,
      description: "The oldest acceptable round: the second in which the sender received the request.",
    }),
  },
  strict,
);
export type ForwardedRequest = Static<typeof ForwardedRequest>;

/** `POST /data/request/forwarded`: the answer. */
export const ForwardedAnswer = Type.Object(
  {
    answer: DataAnswer,
    transaction: orNull(
      Type.String({ pattern: "^0x[0-9a-f]+$" }),
      "The signed transaction; null if the value was stored before, or another relayer or a batch stores the round.",
    ),
  },
  strict,
);
export type ForwardedAnswer = Static<typeof ForwardedAnswer>;

/** `POST /transactions`: the body. */
export const SharedTransaction = Type.Object(
  {
    network_id: NetworkId,
    raw: Type.String({
      pattern: "^0x(?:[0-9a-f]{2})+$",
      description: "A signed transaction, as `eth_sendRawTransaction` takes it.",
    }),
  },
  strict,
);
export type SharedTransaction = Static<typeof SharedTransaction>;

/** A signed report, or a signed row of a batch. */
export const SignedStatement = Type.Union([SignedReport, SignedBatchReport]);
export type SignedStatement = Static<typeof SignedStatement>;

/** The maximum number of statements that `POST /reports` takes at once. */
export const MAX_POSTED_STATEMENTS = 64;

/** `GET /reports`: the query. */
export const ReportsQuery = Type.Object(
  {
    ...datasetFields,
    round: Type.Integer({ ...Timestamp, description: "The round, in seconds since 1970." }),
    key: Type.Optional(
      Type.String({ ...HexKey, description: "Only reports and rows about this key, as lower-case hex." }),
    ),
  },
  strict,
);

/** `GET /transactions`: the query. */
export const TransactionsQuery = Type.Object(
  {
    ...ReportsQuery.properties,
    round: Type.Integer({ ...Timestamp, description: "The oldest round, in seconds since 1970." }),
    key: Type.String({ ...HexKey, description: "The key that the transactions update, as lower-case hex." }),
  },
  strict,
);

/** `GET /contradictions`: the query. */
export const ContradictionQuery = Type.Object(datasetFields, strict);

/** `GET /contradictions`: one contradiction in the answer. */
export const ContradictionAnswer = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    provider: Address,
    key: HexKey,
    timestamp: Timestamp,
    statements: Type.Array(SignedStatement, {
      minItems: 2,
      maxItems: 2,
      description: "Two statements that the provider signed, with different contents for the key.",
    }),
  },
  strict,
);
export type ContradictionAnswer = Static<typeof ContradictionAnswer>;
