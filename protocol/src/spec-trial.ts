/**
 * The schemas of trials: `POST /specs/try` and `POST /specs/advise` of an operator and of a provider. A trial shows how a
 * provider reads a request spec, before or after it is published. Nothing in it is signed or stored.
 */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Address, DATASET_KINDS, HexKey, NetworkId } from "./wire.js";

const strict = { additionalProperties: false } as const;
const orNull = <T extends TSchema>(type: T, description: string) => Type.Union([type, Type.Null()], { description });
const oneOf = <const T extends readonly string[]>(names: T, description: string) =>
  Type.Union(
    names.map((name) => Type.Literal<T[number]>(name)),
    { description },
  );
const bounded = (maxLength: number, description?: string) =>
  Type.String({ maxLength, ...(description !== undefined && { description }) });
const count = (description?: string) => Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });

const Bytes32 = Type.String({ pattern: "^0x[0-9a-f]{64}$" });
const ValueText = bounded(80, "A decimal string (median) or 32 bytes in hex (majority).");

/** The maximum numbers of providers and of samples of each that advice is made of. */
export const MAX_SAMPLED_PROVIDERS = 10;
export const MAX_ADVICE_SAMPLES = 30;
/** The longest sampling of an operator, in seconds. Samples are at least a second apart. */
export const MAX_ADVICE_SECONDS = 120;

const MAX_SOURCES = 8;

const specAndArguments = {
  spec: Type.Unknown({
    description: "The request spec, as JSON. Its layout does not matter. Mistakes are answered with their places.",
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
      Type.String({ description: "The provider to ask. By default the first that offers trials." }),
    ),
  },
  strict,
);
export type DatasetTrialRequest = Static<typeof DatasetTrialRequest>;

/** The steps of a source, in their order. */
export const TRIAL_STEPS = ["fetched", "selected", "scaled"] as const;
export type TrialStep = (typeof TRIAL_STEPS)[number];

/** Why a source gave no value. */
const TrialFailure = Type.Object(
  {
    step: oneOf(TRIAL_STEPS, "The step that failed. The steps before it succeeded."),
    code: bounded(40, "A stable code, for programs."),
    message: bounded(400, "The fact. It continues a sentence about the source: `answered HTTP 404`."),
    fix: bounded(400, "The way to fix it."),
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
            "The JSON at the path: a number or a text, cut to 200 characters, or what an array or object has.",
          ),
        },
        strict,
      ),
      "The node that the path matched; null if none was, or not exactly one.",
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
    type: oneOf(["uint", "bool", "bytes32", "string"], "The type of the value, as in the spec."),
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
      "The 32 bytes that the provider would sign, and `query` return if all agree; null if there is no value.",
    ),
  },
  strict,
);
export type SpecTrial = Static<typeof SpecTrial>;

/** An operator's `POST /specs/advise`: the body. */
export const DatasetAdviceRequest = Type.Object(
  {
    network_id: NetworkId,
    dataset: Type.String({ description: "The address of the dataset whose providers are sampled." }),
    ...specAndArguments,
    samples: Type.Integer({
      minimum: 2,
      maximum: MAX_ADVICE_SAMPLES,
      description: "How often each provider is asked.",
    }),
    seconds: Type.Integer({
      minimum: 2,
      maximum: MAX_ADVICE_SECONDS,
      description: "The time over which the samples are spread evenly: at least a second for each sample.",
    }),
  },
  strict,
);
export type DatasetAdviceRequest = Static<typeof DatasetAdviceRequest>;

/** One provider's readings at one time: each source's value, or the code of its failure. Null without an answer. */
const ProviderSample = orNull(
  Type.Array(
    Type.Object(
      {
        value: orNull(ValueText, "Null if the source failed."),
        failure: orNull(bounded(40), "The code of the failure; null with a value."),
      },
      strict,
    ),
    { minItems: 1, maxItems: MAX_SOURCES },
  ),
  "Null if the provider did not answer.",
);
export type ProviderSample = Static<typeof ProviderSample>;

/** A provider's `POST /specs/advise`: the body, with what trials at several providers have shown. */
export const SpecAdviceRequest = Type.Object(
  {
    ...specAndArguments,
    interval_seconds: Type.Number({
      exclusiveMinimum: 0,
      maximum: 86_400,
      description: "The time from one sample to the next.",
    }),
    providers: Type.Array(
      Type.Object(
        {
          provider: bounded(200, "The provider's address, or any other name."),
          samples: Type.Array(ProviderSample, { minItems: 1, maxItems: MAX_ADVICE_SAMPLES }),
        },
        strict,
      ),
      { minItems: 1, maxItems: MAX_SAMPLED_PROVIDERS, description: "All have the same number of samples." },
    ),
  },
  strict,
);
export type SpecAdviceRequest = Static<typeof SpecAdviceRequest>;

const steps = Type.Object(
  {
    count: count("The pairs of neighbouring samples that both have a value."),
    changed: count("In how many of them the value changed."),
    largest_bps: orNull(Type.Number(), "The largest change, in basis points of the smaller value; null from or to 0."),
    median_bps: orNull(Type.Number(), "The median change; null from or to 0."),
  },
  { ...strict, description: "The changes from one sample of a provider to its next." },
);

/** The behaviour of a value over time. */
export const CHARACTERS = [
  "no value",
  "fixed number",
  "drifting number",
  "jumping number",
  "fixed word",
  "changing word",
  "numeric word",
] as const;
export type Character = (typeof CHARACTERS)[number];

/** The advice on a spec, from samples of several providers. The same samples always give the same advice. */
export const SpecAdvice = Type.Object(
  {
    samples: count("How often each provider was asked."),
    interval_seconds: Type.Number({ description: "The time from one sample to the next." }),
    readings: count("The samples of all providers that were answered."),
    with_value: count("How many of them had a value."),
    character: oneOf(CHARACTERS, "The behaviour of the value."),
    steps,
    providers: Type.Array(
      Type.Object({ provider: bounded(200), with_value: count("In how many samples it had a value."), steps }, strict),
    ),
    agreement: Type.Object(
      {
        compared: count("The samples in which at least two providers had a value."),
        equal: count("In how many of them all had the same value."),
        farthest_bps: orNull(
          Type.Number(),
          "The largest distance of a number from the median, in basis points of the median; null from 0, and of words.",
        ),
      },
      { ...strict, description: "The values of the providers at the same time." },
    ),
    source_agreement: Type.Object(
      {
        compared: count("The readings in which at least two sources had a value."),
        equal: count("In how many of them all had the same value."),
        farthest_bps: orNull(
          Type.Number(),
          "The largest distance of two numbers, in basis points of the smaller; null from 0, and of words.",
        ),
      },
      { ...strict, description: "The values of a provider's sources at the same time." },
    ),
    combinations: Type.Object(
      { majority: count(), equal: count() },
      { ...strict, description: "In how many readings each way of combining words gives a value." },
    ),
    tolerances: Type.Array(
      Type.Object(
        {
          bps: count("The tolerance of a dataset, in basis points of the median."),
          held: count("In how many of the `compared` samples every value was within it of the median."),
          steps_held: count("In how many of the `steps` the change was within it."),
        },
        strict,
      ),
      { description: "Empty unless the value is a number." },
    ),
    sources: Type.Array(
      Type.Object(
        {
          name: bounded(20, "The source's place in the spec."),
          readings: count("How often providers asked it."),
          with_value: count("How often it had a value."),
          failures: Type.Record(bounded(40), count(), { description: "How often it failed, by code." }),
          steps,
          follows: orNull(
            Type.Object(
              {
                name: bounded(20, "The other source."),
                seconds: Type.Number({ description: "How much later." }),
                distance: Type.Number({
                  description: "How far the two are apart on average: numbers in basis points, words as a ratio.",
                }),
                delayed_distance: Type.Number({ description: "The same between the one now and the other then." }),
              },
              strict,
            ),
            "The source whose values it shows later; null if there is none.",
          ),
        },
        strict,
      ),
    ),
    conclusions: Type.Array(bounded(500), { description: "What follows from the figures, in sentences." }),
  },
  strict,
);
export type SpecAdvice = Static<typeof SpecAdvice>;

/** An event `sample` in the stream of an operator's `POST /specs/advise`: what the providers have just read. */
export const AdviceProgress = Type.Object(
  {
    taken: count("The samples taken so far."),
    of: count("The samples that will be taken."),
    providers: Type.Array(
      Type.Object(
        {
          provider: Address,
          text: orNull(bounded(300), "The combined value for people; null if there is none."),
          failure: orNull(bounded(300), "Why there is none; null if there is one."),
        },
        strict,
      ),
    ),
  },
  strict,
);
export type AdviceProgress = Static<typeof AdviceProgress>;

/** Returns what a trial shows of each source's value. */
export const sampleOf = ({ sources }: SpecTrial): ProviderSample =>
  sources.map(({ scaled, error }) => ({ value: scaled?.value ?? null, failure: error?.code ?? null }));
