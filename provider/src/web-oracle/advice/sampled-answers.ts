import { orNull, strict } from "@dataset-oracle/protocol/http-schemas/fields";
import { err } from "@dataset-oracle/protocol/result";
import { type Static, Type } from "@sinclair/typebox";
import type { FailureCode, Reading } from "../../source/source-failure.js";
import type { BoundRequest } from "../compile-spec.js";
import { extractValues } from "../extract-values.js";
import type { ProviderReadings } from "./parse-readings.js";

const Hash = Type.String({ pattern: "^[0-9a-f]{64}$", description: "SHA-256, in hex." });

/** The answers of a spec's sources at several times: all that the advice is based on, so it can be computed again. */
export const SampledAnswers = Type.Object(
  {
    version: Type.Literal(1),
    spec: Type.Unknown({ description: "The request spec." }),
    arguments: Type.Array(Type.String()),
    interval_seconds: Type.Number({ exclusiveMinimum: 0 }),
    samples: Type.Array(
      Type.Object(
        {
          at: Type.Integer({ description: "When the sources were asked, in milliseconds since 1970." }),
          answers: Type.Array(
            Type.Object({ text: orNull(Hash), failure: orNull(Type.String()), detail: orNull(Type.String()) }, strict),
          ),
        },
        strict,
      ),
    ),
    texts: Type.Record(Hash, Type.String(), { ...strict, description: "The answers, by the SHA-256 of their UTF-8." }),
  },
  strict,
);
export type SampledAnswers = Static<typeof SampledAnswers>;

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
): Reading<bigint>[] {
  const { readings } = extractValues(
    bound.sources,
    answers.map(({ text }) => (text === null ? null : (texts[text] ?? null))),
  );
  return answers.map(
    ({ failure, detail }, index) =>
      readings[index] ?? err({ code: (failure ?? "unreachable") as FailureCode, detail: detail ?? "" }),
  );
}
