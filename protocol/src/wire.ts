/** The schemas of the HTTP bodies that developers, operators and providers exchange. */

import { type Static, Type } from "@sinclair/typebox";
import { MAX_BATCH_KEYS } from "./batch-report.js";
import { MAX_KEY_BYTES } from "./key.js";
import { QUERY_STATUSES } from "./report.js";

const HEX_KEY = `^0x(?:[0-9a-f]{2}){1,${MAX_KEY_BYTES}}$`;
const ADDRESS = "^0x[0-9a-fA-F]{40}$";
const BYTES32 = "^0x[0-9a-f]{64}$";
const SIGNATURE = "^0x[0-9a-f]{130}$";

const strict = { additionalProperties: false } as const;

export const NetworkId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "The chain id of the network, for example 1 for Ethereum.",
});
export const Timestamp = Type.Integer({
  minimum: 0,
  maximum: 2 ** 40 - 1,
  description: "The round: the time the reports are about, in whole seconds since 1970.",
});
export const Address = Type.String({ pattern: ADDRESS, description: "An address with its EIP-55 checksum." });
export const HexKey = Type.String({ pattern: HEX_KEY, description: "The key's bytes as lower-case hex." });
const Signature = Type.String({ pattern: SIGNATURE, description: "65 bytes: r, s, v." });

/** A dataset, as callers name it. */
export const datasetNames = {
  network_id: NetworkId,
  dataset: Type.String({ description: "The address of the dataset." }),
};

/** A data point, as callers name it. */
export const dataPointNames = {
  ...datasetNames,
  key: Type.String({ description: 'The key of the data point, in ASCII, or in hex after "0x".' }),
};

/** `POST /data/request`: the body. */
export const DataRequest = Type.Object(
  {
    ...dataPointNames,
    broadcast: Type.Boolean({
      description: "If true, the operator sends the update transaction; otherwise it returns it.",
    }),
  },
  strict,
);
export type DataRequest = Static<typeof DataRequest>;

/** One provider's report, as it appears in the answer to a data request. */
export const AnsweredReport = Type.Object(
  {
    provider: Address,
    value: Type.String({ description: "In the form of the answer's `value`." }),
    signature: Signature,
  },
  strict,
);

/** An update transaction for the caller to send. It can be passed to `eth_sendTransaction` unchanged. */
export const UnsentTransaction = Type.Object(
  {
    chainId: Type.String(),
    to: Address,
    data: Type.String(),
    value: Type.Literal("0x0"),
    gas: Type.String({ description: "The gas limit." }),
    gasLimit: Type.String({ description: "Equal to `gas`, under the name that ethers reads." }),
  },
  { ...strict, description: "The transaction for `eth_sendTransaction`, with its quantities in hex." },
);
export type UnsentTransaction = Static<typeof UnsentTransaction>;

/**
 * The same transaction for libraries. A node wants its quantities in hex, while wagmi compares `chainId` with a number and
 * viem's local accounts encode the value "0x0" wrongly, so that no single object fits both.
 */
export const TransactionRequest = Type.Object(
  {
    chainId: NetworkId,
    to: Address,
    data: Type.String(),
    value: Type.Literal(0),
    gas: Type.Integer({ description: "The gas limit." }),
    gasLimit: Type.Integer({ description: "Equal to `gas`, under the name that ethers reads." }),
  },
  {
    ...strict,
    description: "The same transaction for `sendTransaction` of ethers, viem, wagmi and web3.js, with numbers.",
  },
);
export type TransactionRequest = Static<typeof TransactionRequest>;

/**
 * `POST /data/request`: the answer. It has a `transaction_hash` if it was broadcast, otherwise a `transaction` and a
 * `transaction_request`.
 */
export const DataAnswer = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    key: Type.Union([Type.String(), Type.Null()], { description: "The key in ASCII; null if it is not printable." }),
    key_hex: HexKey,
    status: Type.Union(QUERY_STATUSES.map((status) => Type.Literal(status))),
    value: Type.String({ description: "A decimal string (median) or 32 bytes in hex (majority). Zero when not OK." }),
    timestamp: Timestamp,
    reports: Type.Array(AnsweredReport),
    transaction_hash: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    fresh: Type.Optional(
      Type.Literal(true, {
        description:
          "The stored value is recent, so nothing was sent. `transaction_hash` is the transaction that stored it.",
      }),
    ),
    transaction: Type.Optional(UnsentTransaction),
    transaction_request: Type.Optional(TransactionRequest),
  },
  strict,
);
export type DataAnswer = Static<typeof DataAnswer>;

/** The question that a lens has for a gateway (ERC-3668): the body of a POST, and the parameters of a GET's path. */
export const GatewayRequest = Type.Object(
  {
    sender: Type.String({ description: "The address of the lens." }),
    data: Type.String({
      description: "The calldata of `fetchUpdate(address,bytes)`: the dataset and the key's bytes.",
    }),
  },
  strict,
);
export type GatewayRequest = Static<typeof GatewayRequest>;

/** A gateway's answer to a lens (ERC-3668). */
export const GatewayAnswer = Type.Object(
  { data: Type.String({ description: "The calldata of `update` or `updateNotAvailable`, in hex." }) },
  strict,
);
export type GatewayAnswer = Static<typeof GatewayAnswer>;

export const DATASET_KINDS = ["median", "majority"] as const;
export type DatasetKind = (typeof DATASET_KINDS)[number];

/** `GET /datasets`: one dataset. */
export const ServedDataset = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    kind: Type.Union(DATASET_KINDS.map((kind) => Type.Literal(kind))),
    keys: Type.Array(Type.String(), { description: "The known keys, in ASCII." }),
    query_price: Type.String({ description: "The price of one query, in wei, as a decimal string." }),
    providers: Type.Array(Type.Object({ address: Address, url: Type.String() }, strict)),
  },
  strict,
);
export type ServedDataset = Static<typeof ServedDataset>;

const blockNumber = (description: string) => Type.Integer({ minimum: 0, maximum: 10 ** 15 - 1, description });
const historyTime = (description: string) => Type.Integer({ minimum: 0, maximum: 2 ** 40 - 1, description });

/** The forms in which `GET /history` answers. */
export const HISTORY_FORMATS = ["json", "csv"] as const;

/** `GET /history`: the query. */
export const HistoryQuery = Type.Object(
  {
    ...dataPointNames,
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
        description: "The number of updates, or of intervals: 20 by default, at most 999.",
      }),
    ),
    format: Type.Optional(
      Type.Union(
        HISTORY_FORMATS.map((format) => Type.Literal(format)),
        { description: "The form of the answer. By default CSV if the Accept header names text/csv, else JSON." },
      ),
    ),
  },
  strict,
);
export type HistoryQuery = Static<typeof HistoryQuery>;

const StoredUpdate = Type.Object(
  {
    status: Type.Union(QUERY_STATUSES.map((status) => Type.Literal(status))),
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

/** The updates of one interval. Updates without a value count only as updates. */
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
    key: Type.Union([Type.String(), Type.Null()], { description: "The key in ASCII; null if it is not printable." }),
    key_hex: HexKey,
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
      Type.Union([StoredUpdate, Type.Null()], {
        description:
          "With `from_time` or `interval`: the last update before the range, whose value held when it began; null if " +
          "none was found in the blocks that were searched.",
      }),
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

/** The data point and the round that a report is about. */
const reportHeader = { network_id: NetworkId, dataset: Address, key: HexKey, timestamp: Timestamp };

/** A provider's `POST /report`: the body. */
export const ReportRequest = Type.Object(reportHeader, strict);
export type ReportRequest = Static<typeof ReportRequest>;

/** A provider's `POST /report`: the answer. */
export const SignedReport = Type.Object(
  {
    ...reportHeader,
    provider: Address,
    outcome: Type.Union([Type.Literal("OK"), Type.Literal("NOT_AVAILABLE")]),
    value: Type.String({ pattern: BYTES32, description: "32 bytes; zero when the outcome is NOT_AVAILABLE." }),
    signature: Signature,
  },
  strict,
);
export type SignedReport = Static<typeof SignedReport>;

/** The contribution of one source to a value. It is information for people and is not signed. */
export const SourceNote = Type.Object(
  {
    name: Type.String(),
    value: Type.Union([Type.String(), Type.Null()], {
      description: "The source's value: a decimal string (median) or 32 bytes in hex (majority); null if it failed.",
    }),
    quote_time: Type.Union([Type.Integer(), Type.Null()], {
      description: "The time of the source's quote, in whole seconds since 1970; null if unknown.",
    }),
    used: Type.Boolean({ description: "True if the value was computed from this source, among others." }),
    reason: Type.Union([Type.String(), Type.Null()], {
      description: "The reason why the source was not used; null if it was.",
    }),
  },
  strict,
);
export type SourceNote = Static<typeof SourceNote>;

/** A provider's `POST /report`: the whole answer, with members that are not signed. */
export const ReportAnswer = Type.Object(
  {
    ...SignedReport.properties,
    sources: Type.Optional(
      Type.Array(SourceNote, { description: "The sources of the value, as long as the provider remembers them." }),
    ),
  },
  strict,
);
export type ReportAnswer = Static<typeof ReportAnswer>;

/** The most reports that `POST /report/stream` takes requests for at once. */
export const MAX_STREAMED_REPORTS = 64;

/** A provider's `POST /report/stream`: the body. */
export const ReportStreamRequest = Type.Object(
  {
    requests: Type.Array(
      Type.Object(
        {
          ...reportHeader,
          traceparent: Type.Optional(
            Type.String({ maxLength: 256, description: "The trace that this report belongs to (W3C Trace Context)." }),
          ),
        },
        strict,
      ),
      { minItems: 1, maxItems: MAX_STREAMED_REPORTS },
    ),
  },
  strict,
);
export type ReportStreamRequest = Static<typeof ReportStreamRequest>;

/** A provider's `POST /report/stream`: one line of the answer. */
export const ReportStreamLine = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: "The request that it answers, counted from 0." }),
    status: Type.Integer({ description: "The status that `POST /report` would answer with." }),
    body: Type.Unknown({ description: "The body that `POST /report` would answer with: a report, or a problem." }),
  },
  strict,
);
export type ReportStreamLine = Static<typeof ReportStreamLine>;

/** The content type of JSON in lines. */
export const NDJSON_CONTENT_TYPE = "application/x-ndjson";

/** The keys and the round that a row of a batch is about. */
const batchHeader = {
  network_id: NetworkId,
  dataset: Address,
  keys: Type.Array(HexKey, {
    minItems: 1,
    maxItems: MAX_BATCH_KEYS,
    uniqueItems: true,
    description: "The keys of the batch, in order.",
  }),
  timestamp: Timestamp,
};

/** A provider's `POST /report/batch`: the body. */
export const BatchReportRequest = Type.Object(batchHeader, strict);
export type BatchReportRequest = Static<typeof BatchReportRequest>;

/** A provider's `POST /report/batch`: the answer, a row of a batch. */
export const SignedBatchReport = Type.Object(
  {
    ...batchHeader,
    provider: Address,
    missing: Type.String({
      pattern: BYTES32,
      description: "A bitmap of 32 bytes, lowest bit first, with the keys that have no data.",
    }),
    values: Type.Array(Type.String({ pattern: BYTES32 }), {
      description: "One value of 32 bytes for each key; zero if there is no data.",
    }),
    signature: Signature,
  },
  strict,
);
export type SignedBatchReport = Static<typeof SignedBatchReport>;

/** RFC 9457 problem details: the body of every error. */
export const Problem = Type.Object({
  title: Type.String({ description: "The fact." }),
  status: Type.Integer(),
  code: Type.String({ description: "A stable code, for programs." }),
  detail: Type.String({ description: "The details, and how to fix the problem." }),
});
export type Problem = Static<typeof Problem>;

export const PROBLEM_CONTENT_TYPE = "application/problem+json";
