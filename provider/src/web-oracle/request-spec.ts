import { type Static, Type } from "@sinclair/typebox";
import { SourceSpec } from "../source/source-spec.js";
import { COMBINATIONS } from "./combine.js";
import { Variable } from "./variables.js";

/** What a Web Oracle key asks for: the document whose canonical JSON is published, and whose hash the key names. */
export const RequestSpec = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200, description: "What the value is, for people." }),
    variables: Type.Array(Variable, {
      maxItems: 8,
      description: "What the key's arguments stand for, in their order; [] when there are none.",
    }),
    sources: Type.Array(SourceSpec, {
      minItems: 1,
      maxItems: 8,
      description: "Where the value is read: one source, or several whose values are combined.",
    }),
    minSources: Type.Integer({ minimum: 1, maximum: 8, description: "How many sources must answer for a value." }),
    combine: Type.Union(
      COMBINATIONS.map((name) => Type.Literal(name)),
      {
        description:
          "What becomes of several values: median of numbers; of others majority, which more than half of the answers " +
          "give, or equal, which all give.",
      },
    ),
  },
  { additionalProperties: false },
);
export type RequestSpec = Static<typeof RequestSpec>;
