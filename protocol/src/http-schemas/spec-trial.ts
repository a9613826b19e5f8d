/**
 * The schemas of `POST /specs/try`, of an operator and of a provider. A trial shows how a provider reads a request spec,
 * before or after it is published. Nothing in it is signed or stored.
 */

import { type Static, Type } from "@sinclair/typebox";
import { DATASET_KINDS } from "../dataset-kind.js";
import { VALUE_TYPES } from "../value-type.js";
import { Address, BYTES32, bounded, count, HexKey, NetworkId, oneOf, orNull, strict } from "./fields.js";

const Bytes32 = Type.String({ pattern: BYTES32 });
export const ValueText = bounded(80, "A decimal string (median) or 32 bytes in hex (majority).");

/** The maximum number of sources of a spec. */
export const MAX_SOURCES = 8;

export const specAndArguments = {
  spec: Type.Unknown({
    description: "The request spec, as JSON in any layout. The answer lists its mistakes, each with its place.",
  }),
  arguments: Type.Array(Type.String({ maxLength: 1_024 }), {
    maxItems: 8,
    description: "A value for each variable of the spec, in the spec's order.",
  }),
};

/** A provider's `POST /specs/try`: the body. */
export const SpecTrialRequest = Type.Object(specAndArguments, strict);
export type SpecTrialRequest = Static<typeof SpecTrialRequest>;

/** An operator's `POST /specs/try`: the body. */
export const DatasetTrialRequest = Type.Object(
  {
    network_id: NetworkId,
    dataset: Type.String({ description: "The address of the dataset whose providers are asked." }),
    ...specAndArguments,
    provider: Type.Optional(
      Type.String({ description: "The provider to ask. By default the operator chooses one that offers trials." }),
    ),
  },
  strict,
);
export type DatasetTrialRequest = Static<typeof DatasetTrialRequest>;

/** The steps in which a source is read, in order. */
export const TRIAL_STEPS = ["fetched", "selected", "scaled"] as const;
export type TrialStep = (typeof TRIAL_STEPS)[number];

/** Why a source gave no value. */
const TrialFailure = Type.Object(
  {
    step: oneOf(TRIAL_STEPS, "The step that failed. The steps before it succeeded."),
    code: bounded(40, "A stable code, for programs."),
    message: bounded(400, "What went wrong. It continues a sentence about the source: `answered HTTP 404`."),
    fix: bounded(400, "How to fix it."),
  },
  strict,
);
export type TrialFailure = Static<typeof TrialFailure>;

/** One source in a trial. Exactly one of `scaled` and `error` is null. */
export const TrialSource = Type.Object(
  {
    name: bounded(20, "The source's place in the spec, for example /sources/0."),
    fetched: Type.Object(
      {
        method: oneOf(["GET", "POST"], "The HTTP method."),
        url: bounded(2_048, "The URL, with the arguments filled in. Trials use no credentials."),
        status: orNull(Type.Integer(), "The HTTP status; null without an answer."),
        bytes: orNull(count(), "The size of the answer, after decompression; null without an answer."),
        sha256: orNull(
          Type.String({ pattern: "^[0-9a-f]{64}$" }),
          "SHA-256 of the answer, in hex; null without an answer.",
        ),
        ms: count("How long the request took, in milliseconds."),
      },
      strict,
    ),
    selected: orNull(
      Type.Object(
        {
          path: bounded(16_384, "The JSONPath, with variables as in the spec."),
          text: bounded(
            200,
            "The JSON at the path: a number or a text, cut to 200 characters, or a summary of an array or object.",
          ),
        },
        strict,
      ),
      "The JSON node that the path matched; null unless it matched exactly one.",
    ),
    scaled: orNull(
      Type.Object(
        {
          value: ValueText,
          text: bounded(300, "The value for people, with its unit: `297.31 K`."),
        },
        strict,
      ),
      "The value of the source; null if it has none.",
    ),
    error: orNull(TrialFailure, "Null if the source has a value."),
  },
  strict,
);
export type TrialSource = Static<typeof TrialSource>;

/** The answer to a trial. */
export const SpecTrial = Type.Object(
  {
    provider: Address,
    spec_hash: Type.String({
      ...Bytes32,
      description: "keccak256 of the canonical JSON: the hash in the spec's keys.",
    }),
    spec_bytes: Type.String({
      pattern: "^0x(?:[0-9a-f]{2}){1,8192}$",
      description: "The spec's canonical JSON (RFC 8785) in UTF-8, in hex: the argument of the registry's `publish`.",
    }),
    kind: oneOf(DATASET_KINDS, "The kind of the datasets that its keys belong to."),
    type: oneOf(VALUE_TYPES, "The type of the value, as in the spec."),
    key: bounded(512, "The key with these arguments, in ASCII."),
    key_hex: HexKey,
    sources: Type.Array(TrialSource, { maxItems: MAX_SOURCES }),
    combined: Type.Object(
      {
        how: oneOf(["median", "majority", "equal"], "How the spec combines the values of its sources."),
        min_sources: count("How many sources must have a value."),
        with_value: count("How many sources have one."),
        status: oneOf(
          ["OK", "NOT_AVAILABLE", "BUSY"],
          "OK: the provider would sign the value. NOT_AVAILABLE: it would sign that there is none. BUSY: it would sign " +
            "nothing, because sources are at their rate limits.",
        ),
        reason: orNull(bounded(300), "Why there is no value; null if there is one."),
        value: orNull(ValueText, "The value; null if there is none."),
        text: orNull(bounded(300), "The value for people, with its unit; null if there is none."),
      },
      strict,
    ),
    output: orNull(
      Bytes32,
      "The 32 bytes that the provider would sign, and that `query` would return if all agree; null without a value.",
    ),
  },
  strict,
);
export type SpecTrial = Static<typeof SpecTrial>;
