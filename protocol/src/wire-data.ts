/** The shapes of what the operator tells of data points: `GET /overview` and `GET /data`. */

import { type Static, Type } from "@sinclair/typebox";
import { KEY_FORMS } from "./key.js";
import { QUERY_STATUSES } from "./report.js";
import { Address, DATASET_KINDS, HexKey, NetworkId, Timestamp } from "./wire.js";

const strict = { additionalProperties: false } as const;
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T, description: string) =>
  Type.Union([type, Type.Null()], { description });

/** What a number, or 32 bytes, stand for. */
export const ValueFormat = Type.Object(
  {
    title: orNull(Type.String(), "What the value is, for people, as its request spec says; null where there is none."),
    type: Type.Union(
      (["uint", "bool", "bytes32", "string"] as const).map((type) => Type.Literal(type)),
      { description: "A string is left-aligned text in UTF-8, unless it is hashed: then it is bytes32." },
    ),
    decimals: Type.Integer({ description: "A uint is scaled by ten to this power." }),
    sources: Type.Array(Type.String(), { description: "The hosts that it is read from, if the request spec says." }),
  },
  strict,
);
export type ValueFormat = Static<typeof ValueFormat>;

const point = {
  key: orNull(Type.String(), "The key in ASCII; null if it is not printable."),
  key_hex: HexKey,
  status: Type.Union(QUERY_STATUSES.map((status) => Type.Literal(status))),
  value: Type.String({ description: "A decimal string (median) or 32 bytes in hex (majority). Zero when not OK." }),
  timestamp: Timestamp,
  heartbeat_seconds: orNull(
    Type.Integer(),
    "The age at which this operator updates it in any case; null if it only does so when asked.",
  ),
  format: orNull(ValueFormat, "Null if the operator does not know."),
};

/** A data point as it is stored. */
export const ServedPoint = Type.Object(point, strict);
export type ServedPoint = Static<typeof ServedPoint>;

const Member = Type.Object(
  { address: Address, url: orNull(Type.String(), "Where this operator asks it; null if it does not.") },
  strict,
);

/** A dataset and its data points. */
export const DatasetOverview = Type.Object(
  {
    dataset: Address,
    name: Type.String({ description: "As the deployment calls it." }),
    kind: Type.Union(DATASET_KINDS.map((kind) => Type.Literal(kind))),
    key_form: Type.Union(KEY_FORMS.map((form) => Type.Literal(form))),
    query_price: orNull(
      Type.String(),
      "The price of one query, in wei, as a decimal string; null if not readable now.",
    ),
    max_round_age: Type.Integer({ description: "How old a round may be when it is stored, in seconds." }),
    tolerance_bps: Type.Integer({ description: "How far from the median a value may lie, in basis points of it." }),
    providers: Type.Array(Member, { description: "The whole committee, in its order." }),
    points: orNull(Type.Array(ServedPoint), "The keys that the operator knows of; null if not readable now."),
    left_out: Type.Integer({ description: "How many more keys it knows of." }),
  },
  strict,
);
export type DatasetOverview = Static<typeof DatasetOverview>;

/** `GET /overview`: one network. */
export const NetworkOverview = Type.Object(
  {
    network_id: NetworkId,
    readable: Type.Boolean({ description: "Whether the network can be read now." }),
    broadcasts: Type.Boolean({ description: "Whether this operator sends transactions there." }),
    datasets: Type.Array(DatasetOverview),
  },
  strict,
);
export type NetworkOverview = Static<typeof NetworkOverview>;

/** `GET /overview`: the answer. */
export const OverviewAnswer = Type.Object(
  { time: Timestamp, networks: Type.Array(NetworkOverview) },
  { ...strict, description: "`time` is the operator's clock, in seconds since 1970." },
);
export type OverviewAnswer = Static<typeof OverviewAnswer>;

/** `GET /data`: the query. */
export const DataQuery = Type.Object(
  {
    network_id: Type.String({ pattern: "^[1-9][0-9]{0,15}$", description: "The chain id of the network." }),
    dataset: Type.String({ description: "Address of the dataset." }),
    key: Type.String({ description: 'Key of the data point, in ASCII, or in hex after "0x".' }),
  },
  strict,
);
export type DataQuery = Static<typeof DataQuery>;

const SignedPart = Type.Object(
  {
    provider: Address,
    outcome: Type.Union([Type.Literal("OK"), Type.Literal("NOT_AVAILABLE")]),
    value: Type.String({ description: "As the answer's value; zero when the outcome is NOT_AVAILABLE." }),
  },
  strict,
);

/** The transaction that stored a data point, as the chain shows it. */
export const LastUpdate = Type.Object(
  {
    transaction_hash: Type.String(),
    block_number: Type.Integer(),
    carrier: orNull(Address, "Who sent it; null if the node does not have the transaction any more."),
    reports: orNull(
      Type.Array(SignedPart),
      "What each provider signed, in the committee's order; null if the transaction does not show it.",
    ),
    absentees: Type.Array(Address, { description: "The members whose report it does not have." }),
    spread: orNull(
      Type.String(),
      "The highest signed value less the lowest, as a decimal string; null of a majority dataset, or without values.",
    ),
  },
  strict,
);
export type LastUpdate = Static<typeof LastUpdate>;

/** `GET /data`: the answer. */
export const DataPointAnswer = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    ...point,
    query_price: Type.String({ description: "The price of one query, in wei, as a decimal string." }),
    last_update: orNull(LastUpdate, "Null if there was none, or it lies further back than this operator looks."),
  },
  strict,
);
export type DataPointAnswer = Static<typeof DataPointAnswer>;
