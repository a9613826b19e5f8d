/** The schemas of the operator's `GET /overview`. */

import { type Static, Type } from "@sinclair/typebox";
import { DATASET_KINDS } from "../dataset-kind.js";
import { KEY_FORMS } from "../key-form.js";
import { VALUE_TYPES, Variable } from "../request-spec.js";
import { Address, NetworkId, oneOf, orNull, storedFields, strict, Timestamp } from "./fields.js";

/** The meaning of a number or of 32 bytes. */
export const ValueFormat = Type.Object(
  {
    title: orNull(Type.String(), "A description of the value, from its request spec; null if there is none."),
    type: oneOf(VALUE_TYPES, "A string is left-aligned text in UTF-8. A hashed string is a bytes32."),
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

export const dataPointState = {
  ...storedFields,
  deviation_bps: orNull(
    Type.Integer(),
    "The deviation threshold: the change, in basis points of the stored value, that makes this operator update it " +
      "early; null if no change does.",
  ),
  heartbeat_seconds: orNull(
    Type.Integer(),
    "The maximum age before this operator updates the value; null if it does so only on request.",
  ),
  format: orNull(ValueFormat, "Null if the format is unknown."),
};

/** A data point as it is stored. */
export const ServedPoint = Type.Object(dataPointState, strict);
export type ServedPoint = Static<typeof ServedPoint>;

export const specVariables = Type.Array(Variable, {
  description: 'The variables of the request spec: a key has an argument for each, in this order, each after "/".',
});

/** A request spec that was published. */
export const PublishedSpec = Type.Object(
  {
    spec_hash: Type.String({
      description: 'The hash of the spec, 32 bytes in hex. Its keys begin with "WEB/" and this hash without 0x.',
    }),
    variables: specVariables,
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
      "Why this operator's last question to it had no usable answer, such as `timeout`, or `no_endpoint` if no URL of it " +
        "was known; null if it had one, or if there was no question.",
    ),
  },
  strict,
);

/** A dataset and its data points. */
export const DatasetOverview = Type.Object(
  {
    dataset: Address,
    name: Type.String({ description: "The name in the deployment file." }),
    kind: oneOf(DATASET_KINDS),
    key_form: oneOf(KEY_FORMS),
    query_price: orNull(
      Type.String(),
      "The price of one query, in wei, as a decimal string; null if it cannot be read now.",
    ),
    max_round_age: Type.Integer({ description: "The maximum age of a round when it is stored, in seconds." }),
    tolerance_bps: Type.Integer({
      description: "The distance from the median within which a value agrees with it, in basis points of the median.",
    }),
    providers: Type.Array(Member, { description: "The whole committee, in committee order." }),
    points: orNull(
      Type.Array(ServedPoint),
      "The data points of the keys that the deployment file or a feed names; null if they cannot be read now.",
    ),
    left_out: Type.Integer({ description: "The number of named keys that are not listed." }),
    specs: Type.Array(PublishedSpec, {
      description:
        "The published request specs of the named keys. Anyone may publish a spec; GET /data describes those of other keys.",
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
