import { orNull, strict } from "@dataset-oracle/protocol/http-schemas/fields";
import { type Static, Type } from "@sinclair/typebox";

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
