/** What travels between developers, operators and providers: the shapes of every HTTP body, in one place. */

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
  description: "The chain id of the network: 1 is the main network.",
});
export const Timestamp = Type.Integer({
  minimum: 0,
  maximum: 2 ** 40 - 1,
  description: "The round's timestamp, in whole seconds since 1970.",
});
export const Address = Type.String({ pattern: ADDRESS, description: "An address with its EIP-55 checksum." });
export const HexKey = Type.String({ pattern: HEX_KEY, description: "The key's bytes as lower-case hex." });
const Signature = Type.String({ pattern: SIGNATURE, description: "65 bytes: r, s, v." });

/** `POST /data/request`: the body. */
export const DataRequest = Type.Object(
  {
    network_id: NetworkId,
    dataset: Type.String({ description: "Address of the dataset whose data is to be updated." }),
    key: Type.String({ description: 'Key of the data point, in ASCII, or in hex after "0x".' }),
    broadcast: Type.Boolean({ description: "Whether the operator sends the update transaction." }),
  },
  strict,
);
export type DataRequest = Static<typeof DataRequest>;

/** One provider's report, as a data request's answer shows it. */
export const AnsweredReport = Type.Object(
  {
    provider: Address,
    value: Type.String({ description: "As the answer's value." }),
    signature: Signature,
  },
  strict,
);

/** An update transaction that the caller sends: it can be passed to `eth_sendTransaction` as it is. */
export const UnsentTransaction = Type.Object(
  {
    chainId: Type.String(),
    to: Address,
    data: Type.String(),
    value: Type.Literal("0x0"),
    gas: Type.String(),
  },
  strict,
);
export type UnsentTransaction = Static<typeof UnsentTransaction>;

/** `POST /data/request`: the answer. It has a `transaction_hash` when it was broadcast, else a `transaction`. */
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
      Type.Literal(true, { description: "What is stored is young: nothing was sent, and that hash stored it." }),
    ),
    transaction: Type.Optional(UnsentTransaction),
  },
  strict,
);
export type DataAnswer = Static<typeof DataAnswer>;

export const DATASET_KINDS = ["median", "majority"] as const;
export type DatasetKind = (typeof DATASET_KINDS)[number];

/** `GET /datasets`: one dataset. */
export const ServedDataset = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    kind: Type.Union(DATASET_KINDS.map((kind) => Type.Literal(kind))),
    keys: Type.Array(Type.String(), { description: "The ASCII keys that the operator knows of." }),
    query_price: Type.String({ description: "The price of one query, in wei, as a decimal string." }),
    providers: Type.Array(Type.Object({ address: Address, url: Type.String() }, strict)),
  },
  strict,
);
export type ServedDataset = Static<typeof ServedDataset>;

const blockNumber = (description: string) => Type.String({ pattern: "^(?:0|[1-9][0-9]{0,14})$", description });

/** `GET /history`: the query. */
export const HistoryQuery = Type.Object(
  {
    network_id: Type.String({ pattern: "^[1-9][0-9]{0,15}$", description: "The chain id of the network." }),
    dataset: Type.String({ description: "Address of the dataset." }),
    key: Type.String({ description: 'Key of the data point, in ASCII, or in hex after "0x".' }),
    from: Type.Optional(blockNumber("The first block; as far back as is allowed if it is left out.")),
    to: Type.Optional(blockNumber("The last block; the newest if it is left out.")),
    limit: Type.Optional(
      Type.String({
        pattern: "^[1-9][0-9]{0,2}$",
        description: "How many updates: 20 if it is left out, at most 999.",
      }),
    ),
  },
  strict,
);
export type HistoryQuery = Static<typeof HistoryQuery>;

/** `GET /history`: the answer. */
export const HistoryAnswer = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    key: Type.Union([Type.String(), Type.Null()], { description: "The key in ASCII; null if it is not printable." }),
    key_hex: HexKey,
    from: Type.Integer({
      description: "The first block that was looked at: for older updates, ask to the one before.",
    }),
    to: Type.Integer({ description: "The last block that was looked at." }),
    updates: Type.Array(
      Type.Object(
        {
          status: Type.Union(QUERY_STATUSES.map((status) => Type.Literal(status))),
          value: Type.String({ description: "As a data request's." }),
          timestamp: Timestamp,
          block_number: Type.Integer(),
          transaction_hash: Type.String(),
        },
        strict,
      ),
      { description: "The newest first; all of each block, so that there can be a few more than the limit." },
    ),
  },
  strict,
);
export type HistoryAnswer = Static<typeof HistoryAnswer>;

/** What a report is about. */
const reportSubject = { network_id: NetworkId, dataset: Address, key: HexKey, timestamp: Timestamp };

/** A provider's `POST /report`: the body. */
export const ReportRequest = Type.Object(reportSubject, strict);
export type ReportRequest = Static<typeof ReportRequest>;

/** A provider's `POST /report`: the answer. */
export const SignedReport = Type.Object(
  {
    ...reportSubject,
    provider: Address,
    outcome: Type.Union([Type.Literal("OK"), Type.Literal("NOT_AVAILABLE")]),
    value: Type.String({ pattern: BYTES32, description: "32 bytes; zero when the outcome is NOT_AVAILABLE." }),
    signature: Signature,
  },
  strict,
);
export type SignedReport = Static<typeof SignedReport>;

/** What became of one source of a value: for people to see. Nobody signs it. */
export const SourceNote = Type.Object(
  {
    name: Type.String(),
    value: Type.Union([Type.String(), Type.Null()], {
      description: "What it said: a decimal string (median) or 32 bytes in hex (majority); null if it failed.",
    }),
    quote_time: Type.Union([Type.Integer(), Type.Null()], {
      description: "When its quote was made, in whole seconds since 1970; null if it does not say.",
    }),
    used: Type.Boolean({ description: "Whether the value was made of it, too." }),
    reason: Type.Union([Type.String(), Type.Null()], { description: "Why not; null if it was used." }),
  },
  strict,
);
export type SourceNote = Static<typeof SourceNote>;

/** A provider's `POST /report`: the whole answer, with what is not signed. */
export const ReportAnswer = Type.Object(
  {
    ...SignedReport.properties,
    sources: Type.Optional(
      Type.Array(SourceNote, { description: "Where the value came from, while the provider remembers it." }),
    ),
  },
  strict,
);
export type ReportAnswer = Static<typeof ReportAnswer>;

/** What a row of a batch is about. */
const batchSubject = {
  network_id: NetworkId,
  dataset: Address,
  keys: Type.Array(HexKey, {
    minItems: 1,
    maxItems: MAX_BATCH_KEYS,
    uniqueItems: true,
    description: "The keys of a batch, in its order.",
  }),
  timestamp: Timestamp,
};

/** A provider's `POST /report/batch`: the body. */
export const BatchReportRequest = Type.Object(batchSubject, strict);
export type BatchReportRequest = Static<typeof BatchReportRequest>;

/** A provider's `POST /report/batch`: the answer, a row of a batch. */
export const SignedBatchReport = Type.Object(
  {
    ...batchSubject,
    provider: Address,
    missing: Type.String({
      pattern: BYTES32,
      description: "32 bytes, with one bit for each key, the lowest for the first: whether there is no data for it.",
    }),
    values: Type.Array(Type.String({ pattern: BYTES32 }), {
      description: "One for each key, in 32 bytes; zero where there is no data.",
    }),
    signature: Signature,
  },
  strict,
);
export type SignedBatchReport = Static<typeof SignedBatchReport>;

/** RFC 9457 problem details: every error's body. */
export const Problem = Type.Object({
  title: Type.String({ description: "What went wrong." }),
  status: Type.Integer(),
  code: Type.String({ description: "Stable, for programs." }),
  detail: Type.String({ description: "What to do about it." }),
});
export type Problem = Static<typeof Problem>;

export const PROBLEM_CONTENT_TYPE = "application/problem+json";
