import { oneOf } from "@dataset-oracle/protocol/http-schemas/fields";
import { SpecUnit } from "@dataset-oracle/protocol/spec-unit";
import { type Static, Type } from "@sinclair/typebox";
import { SourceSpec } from "../source/common-source-spec.js";
import { COMBINATIONS } from "./combine.js";
import { Variable } from "./spec-variables.js";

/** A request spec. Its canonical JSON is published, and keys contain the hash of that JSON. */
export const RequestSpec = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200, description: "A description of the value, for people." }),
    unit: Type.Optional(SpecUnit),
    variables: Type.Array(Variable, {
      maxItems: 8,
      description: "The variables that a key's arguments give values to, in their order; [] when there are none.",
    }),
    sources: Type.Array(SourceSpec, {
      minItems: 1,
      maxItems: 8,
      description: "The sources of the value. The values of several sources are combined.",
    }),
    minSources: Type.Integer({ minimum: 1, maximum: 8, description: "How many sources must answer for a value." }),
    combine: oneOf(
      COMBINATIONS,
      "How values are combined: numbers by median; others by majority (more than half of the answers agree) or by " +
        "equal (all of them agree).",
    ),
  },
  { additionalProperties: false },
);
export type RequestSpec = Static<typeof RequestSpec>;
