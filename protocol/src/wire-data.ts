/** The schemas of the operator's answers about data points: `GET /overview` and `GET /data`. */

import { type Static, Type } from "@sinclair/typebox";
import { KEY_FORMS } from "./key.js";
import { QUERY_STATUSES } from "./report.js";
import { Address, DATASET_KINDS, dataPointNames, HexKey, NetworkId, Timestamp } from "./wire.js";

const strict = { additionalProperties: false } as const;
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(type: T, description: string) =>
  Type.Union([type, Type.Null()], { description });

/** The meaning of a number or of 32 bytes. */
export const ValueFormat = Type.Object(
  {
    title: orNull(Type.String(), "A description of the value, from its request spec; null if there is none."),
    type: Type.Union(
      (["uint", "bool", "bytes32", "string"] as const).map((type) => Type.Literal(type)),
      { description: "A string is left-aligned text in UTF-8. A hashed string is a bytes32." },
    ),
    decimals: Type.Integer({ description: "The power of ten by which a uint is scaled." }),
    unit: orNull(
      Type.String(),
      "The symbol of the number's unit; null if the request spec states none, and for spot prices.",
    ),
    sources: Type.Array(Type.String(), {
      description: "The hosts that the value is read from, if the request spec is known.",
    }),
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
  deviation_bps: orNull(
    Type.Integer(),
    "The move, in basis points of the value, after which this operator updates it earlier; null if it does not.",
  ),
  heartbeat_seconds: orNull(
    Type.Integer(),
    "The maximum age before this operator updates the value; null if it does so only on request.",
  ),
  format: orNull(ValueFormat, "Null if the format is unknown."),
};

/** A data point as it is stored. */
export const ServedPoint = Type.Object(point, strict);
export type ServedPoint = Static<typeof ServedPoint>;

/** A request spec that was published, by anyone. */
export const PublishedSpec = Type.Object(
  {
    spec_hash: Type.String({
      description: 'The hash in its keys, 32 bytes in hex. A key has "WEB/" and the hash without 0x.',
    }),
    variables: Type.Array(Type.String(), {
      description: 'The names of its variables: a key has an argument for each, in this order, after "/".',
    }),
    format: ValueFormat,
  },
  strict,
);
export type PublishedSpec = Static<typeof PublishedSpec>;

const Member = Type.Object(
  {
    address: Address,
    name: orNull(Type.String(), "The name that this operator's configuration gives it; null if none."),
    url: orNull(Type.String(), "The URL at which this operator asks it; null if it does not."),
    failing: orNull(
      Type.String(),
      "Why its last answer to this operator could not be used, such as `timeout`; null if it could, or if it was not asked.",
    ),
  },
  strict,
);

const ServedNode = Type.Object(
  {
    provider: Address,
    name: orNull(Type.String(), "The name that this operator's configuration gives its provider; null if none."),
    url: Type.String({ description: "Its base URL." }),
    submitter: Address,
    own: Type.Boolean({ description: "True for the operator that answers." }),
  },
  strict,
);
export type ServedNode = Static<typeof ServedNode>;

/** A dataset and its data points. */
export const DatasetOverview = Type.Object(
  {
    dataset: Address,
    name: Type.String({ description: "The name in the deployment file." }),
    kind: Type.Union(DATASET_KINDS.map((kind) => Type.Literal(kind))),
    key_form: Type.Union(KEY_FORMS.map((form) => Type.Literal(form))),
    query_price: orNull(
      Type.String(),
      "The price of one query, in wei, as a decimal string; null if it cannot be read now.",
    ),
    max_round_age: Type.Integer({ description: "The maximum age of a round when it is stored, in seconds." }),
    tolerance_bps: Type.Integer({
      description: "The distance from the median within which a value agrees with it, in basis points of the median.",
    }),
    providers: Type.Array(Member, { description: "The whole committee, in committee order." }),
    points: orNull(Type.Array(ServedPoint), "The data points of the known keys; null if they cannot be read now."),
    left_out: Type.Integer({ description: "The number of known keys that are not listed." }),
    turn: Type.Array(Address, {
      description:
        "The nodes of the committee, by their providers, in the order in which they may send this beat's batch of the " +
        "feeds. Empty for an operator by itself, and where it has no feeds.",
    }),
    specs: Type.Array(PublishedSpec, {
      description:
        "The request specs published lately whose keys belong to this dataset, the newest first. Anyone may publish " +
        "one; the providers decide which hosts they ask.",
    }),
  },
  strict,
);
export type DatasetOverview = Static<typeof DatasetOverview>;

/** `GET /overview`: one network. */
export const NetworkOverview = Type.Object(
  {
    network_id: NetworkId,
    readable: Type.Boolean({ description: "True if the network can be read now." }),
    simulated: Type.Boolean({ description: "True if the values are simulated: none of them is real." }),
    head_timestamp: orNull(Timestamp, "The time of the newest block; null if it cannot be read now."),
    broadcasts: Type.Boolean({ description: "True if this operator sends transactions on the network." }),
    explorer_url: orNull(Type.String(), "The base URL of the network's block explorer; null if none is configured."),
    verified_lens: orNull(
      Address,
      "The lens that proves fetched updates to readers (ERC-3668); null if there is none.",
    ),
    web_oracle_registry: orNull(
      Address,
      "The contract whose `publish` publishes request specs of the Web Oracle; null if there is none.",
    ),
    nodes: Type.Array(ServedNode, {
      description: "The operators that take turns on the network, as this one knows them; empty for one by itself.",
    }),
    datasets: Type.Array(DatasetOverview),
  },
  strict,
);
export type NetworkOverview = Static<typeof NetworkOverview>;

/** `GET /overview`: the answer. */
export const OverviewAnswer = Type.Object(
  { time: Timestamp, networks: Type.Array(NetworkOverview) },
  { ...strict, description: "`time` is the operator's time, in seconds since 1970." },
);
export type OverviewAnswer = Static<typeof OverviewAnswer>;

/** `GET /data`: the query. */
export const DataQuery = Type.Object(dataPointNames, strict);
export type DataQuery = Static<typeof DataQuery>;

const SignedPart = Type.Object(
  {
    provider: Address,
    outcome: Type.Union([Type.Literal("OK"), Type.Literal("NOT_AVAILABLE")]),
    value: Type.String({ description: "In the form of the answer's `value`; zero when the outcome is NOT_AVAILABLE." }),
  },
  strict,
);

/** The transaction that stored a data point, as recorded on chain. */
export const LastUpdate = Type.Object(
  {
    transaction_hash: Type.String(),
    block_number: Type.Integer(),
    carrier: orNull(Address, "The sender of the transaction; null if the node no longer has it."),
    reports: orNull(
      Type.Array(SignedPart),
      "The signed reports, in committee order; null if the transaction does not contain them.",
    ),
    absentees: Type.Array(Address, { description: "The members without a report in the transaction." }),
    spread: orNull(
      Type.String(),
      "The highest signed value minus the lowest, as a decimal string; null for a majority dataset or without values.",
    ),
  },
  strict,
);
export type LastUpdate = Static<typeof LastUpdate>;

/** How far each provider agreed with what was stored lately. */
export const Agreement = Type.Object(
  {
    rounds: Type.Integer({ description: "The number of rounds that show their reports: the last ones, at most 10." }),
    providers: Type.Array(
      Type.Object(
        {
          provider: Address,
          signed: Type.Integer({ description: "In how many of them it signed." }),
          agreed: Type.Integer({
            description:
              "In how many it signed what was stored: for a median dataset, a value within the tolerance of it.",
          }),
        },
        strict,
      ),
      { description: "The whole committee, in committee order." },
    ),
  },
  strict,
);
export type Agreement = Static<typeof Agreement>;

const SentRound = Type.Object(
  {
    timestamp: Timestamp,
    transaction_hash: Type.String(),
    sender: orNull(Address, "The sender of the transaction; null if the node no longer has it."),
  },
  strict,
);

/** `GET /data`: the answer. */
export const DataPointAnswer = Type.Object(
  {
    network_id: NetworkId,
    dataset: Address,
    ...point,
    query_price: Type.String({ description: "The price of one query, in wei, as a decimal string." }),
    last_update: orNull(
      LastUpdate,
      "Null if there was none, or if it is older than the blocks that this operator searches.",
    ),
    agreement: orNull(Agreement, "Null where `last_update` is."),
    last_rounds: Type.Array(SentRound, { description: "Who sent the last rounds, at most 10, the newest first." }),
  },
  strict,
);
export type DataPointAnswer = Static<typeof DataPointAnswer>;
