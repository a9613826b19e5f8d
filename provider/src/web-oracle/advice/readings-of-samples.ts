import { ok } from "@dataset-oracle/protocol/result";
import { type FailureCode, failed, type Reading } from "../../source/source-failure.js";
import type { BoundRequest } from "../compile-spec.js";
import { extractValues } from "../extract-values.js";
import type { ProviderReadings } from "./parse-readings.js";
import type { SampledAnswers } from "./sampled-answers.js";

/** Finds the values in all samples. */
export const readingsOfSamples = (bound: BoundRequest, { samples, texts }: SampledAnswers): ProviderReadings => ({
  provider: "here",
  samples: samples.map(({ answers }) => readingsOfSample(bound, answers, texts)),
});

/** Finds the values in the answers of one sample, one for each source. */
export function readingsOfSample(
  bound: BoundRequest,
  answers: SampledAnswers["samples"][number]["answers"],
  texts: SampledAnswers["texts"],
): readonly Reading<bigint>[] {
  const kept = answers.map(({ text, failure, detail }) =>
    text === null
      ? failed((failure ?? "unreachable") as FailureCode, detail ?? "")
      : ok({ text: texts[text] as string }),
  );
  return extractValues(bound.sources, kept).readings;
}
