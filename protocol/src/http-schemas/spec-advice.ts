/** The schemas of `POST /specs/advise`, of an operator and of a provider. Advice is derived from repeated trials. */

import { type Static, Type } from "@sinclair/typebox";
import { Address, bounded, count, NetworkId, oneOf, orNull, strict } from "./fields.js";
import { MAX_SOURCES, type SpecTrial, specAndArguments, ValueText } from "./spec-trial.js";

/** The maximum numbers of providers, and of samples of each provider, that advice is derived from. */
export const MAX_SAMPLED_PROVIDERS = 10;
export const MAX_ADVICE_SAMPLES = 30;
/** The longest time over which an operator takes samples, in seconds. Samples are at least a second apart. */
export const MAX_ADVICE_SECONDS = 120;

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
      description: "The time, in seconds, over which the samples are spread evenly: at least a second for each sample.",
    }),
  },
  strict,
);
export type DatasetAdviceRequest = Static<typeof DatasetAdviceRequest>;

/** One provider's readings at one time: each source's value, or the code of its failure. Null without an answer. */
export const ProviderSample = orNull(
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

/** Reduces a trial to a sample: each source's value, or the code of its failure. */
export const sampleOf = ({ sources }: SpecTrial): ProviderSample =>
  sources.map(({ scaled, error }) => ({ value: scaled?.value ?? null, failure: error?.code ?? null }));

/** A provider's `POST /specs/advise`: the body, with the results of trials at several providers. */
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
    count: count("The number of pairs of consecutive samples that both have a value."),
    changed: count("In how many of them the value changed."),
    largest_bps: orNull(
      Type.Number(),
      "The largest change, in basis points of the smaller value; null if it was a change from or to 0.",
    ),
    median_bps: orNull(Type.Number(), "The median change, likewise; null if it was a change from or to 0."),
  },
  { ...strict, description: "The changes from one sample of a provider to its next." },
);

/** The behaviour of a value over time. */
export const VALUE_BEHAVIOURS = [
  "no value",
  "fixed number",
  "drifting number",
  "jumping number",
  "fixed word",
  "changing word",
  "numeric word",
] as const;
export type ValueBehaviour = (typeof VALUE_BEHAVIOURS)[number];

/** The advice on a spec, from samples of several providers. The same samples always give the same advice. */
export const SpecAdvice = Type.Object(
  {
    samples: count("How often each provider was asked."),
    interval_seconds: Type.Number({ description: "The time from one sample to the next." }),
    readings: count("The number of samples, of all providers, that were answered."),
    with_value: count("How many of them had a value."),
    character: oneOf(VALUE_BEHAVIOURS, "The behaviour of the value."),
    steps,
    providers: Type.Array(
      Type.Object({ provider: bounded(200), with_value: count("In how many samples it had a value."), steps }, strict),
    ),
    agreement: Type.Object(
      {
        compared: count("The number of samples in which at least two providers had a value."),
        equal: count("In how many of them all had the same value."),
        farthest_bps: orNull(
          Type.Number(),
          "The largest distance of a number from the median, in basis points of it; null for words, and if it was 0.",
        ),
      },
      { ...strict, description: "The values of the providers at the same time." },
    ),
    source_agreement: Type.Object(
      {
        compared: count("The number of readings in which at least two sources had a value."),
        equal: count("In how many of them all had the same value."),
        farthest_bps: orNull(
          Type.Number(),
          "The largest distance of two numbers, in basis points of the smaller; null for words, and if that was 0.",
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
          held: count("In how many of the `compared` samples every value was within this tolerance of the median."),
          steps_held: count("In how many of the `steps` the change was within this tolerance."),
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
                seconds: Type.Number({ description: "How much later, in seconds." }),
                distance: Type.Number({
                  description:
                    "The average distance of the two at the same time: in basis points for numbers; for words, how " +
                    "often they differ, from 0 to 1.",
                }),
                delayed_distance: Type.Number({
                  description: "The same, but from what the other source showed that many seconds earlier.",
                }),
              },
              strict,
            ),
            "Another source whose values this one shows with a delay; null if there is none.",
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
