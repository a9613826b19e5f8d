/** Fields that several bodies have, and helpers that write their schemas. */

import { type TSchema, Type } from "@sinclair/typebox";
import { MAX_KEY_BYTES } from "../max-key-bytes.js";
import { QUERY_STATUSES } from "../query-status.js";

const HEX_KEY = `^0x(?:[0-9a-f]{2}){1,${MAX_KEY_BYTES}}$`;
const ADDRESS = "^0x[0-9a-fA-F]{40}$";
export const BYTES32 = "^0x[0-9a-f]{64}$";
const SIGNATURE = "^0x[0-9a-f]{130}$";

/** The option of an object that allows no fields besides the listed ones. */
export const strict = { additionalProperties: false } as const;

export const orNull = <T extends TSchema>(type: T, description?: string) =>
  Type.Union([type, Type.Null()], description === undefined ? {} : { description });

export const oneOf = <const T extends readonly string[]>(names: T, description?: string) =>
  Type.Union(
    names.map((name) => Type.Literal<T[number]>(name)),
    description === undefined ? {} : { description },
  );

export const bounded = (maxLength: number, description?: string) =>
  Type.String({ maxLength, ...(description !== undefined && { description }) });

export const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });

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
export const Outcome = oneOf(["OK", "NOT_AVAILABLE"]);
export const Signature = Type.String({ pattern: SIGNATURE, description: "65 bytes: r, s, v." });

/** The key of a data point, as answers name it. */
export const namedKey = {
  key: orNull(Type.String(), "The key in ASCII; null if it is not printable."),
  key_hex: HexKey,
};

/** What is stored for a data point. */
export const storedFields = {
  ...namedKey,
  status: oneOf(QUERY_STATUSES),
  value: Type.String({ description: "A decimal string (median) or 32 bytes in hex (majority). Zero when not OK." }),
  timestamp: Timestamp,
};

/** A dataset, as callers name it. */
export const datasetFields = {
  network_id: NetworkId,
  dataset: Type.String({ description: "The address of the dataset." }),
};

/** A data point, as callers name it. */
export const dataPointFields = {
  ...datasetFields,
  key: Type.String({ description: 'The key of the data point, in ASCII, or in hex after "0x".' }),
};
