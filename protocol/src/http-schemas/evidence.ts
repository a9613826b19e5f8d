/** The schemas of evidence: the lines of the files that a provider keeps. */

import { type Static, Type } from "@sinclair/typebox";
import { BYTES32, Outcome, oneOf, orNull, strict } from "./fields.js";
import { SourceNote } from "./reports.js";

const Hash = Type.String({ pattern: "^[0-9a-f]{64}$", description: "SHA-256, in hex." });

/** One request and its answer's hash, or why there was no answer. */
export const RecordedAnswer = Type.Object(
  {
    method: oneOf(["GET", "POST"]),
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
    body: Type.Optional(Type.String()),
    text: orNull(Hash),
    failure: orNull(
      Type.Object(
        {
          code: Type.String(),
          detail: Type.String(),
          retryAfter: Type.Optional(Type.Number()),
        },
        strict,
      ),
    ),
  },
  strict,
);
export type RecordedAnswer = Static<typeof RecordedAnswer>;

/** The fields of every decision's evidence. Specs and answers are lines before it, named by their hashes. */
const decision = {
  version: Type.Literal(1),
  network_id: Type.Integer(),
  dataset: Type.String(),
  key: Type.String(),
  timestamp: Type.Integer({ description: "The round, in seconds since 1970." }),
  outcome: Outcome,
  value: Type.String({ pattern: BYTES32, description: "32 bytes; zero without data." }),
  at: Type.String({ pattern: "^\\d{1,20}$", description: "When reading began, in whole seconds since 1970." }),
  overrides: Type.Record(Type.String(), Type.String(), {
    description: "The origins that were replaced, with their replacements; used in development only.",
  }),
  answers: Type.Array(RecordedAnswer),
  sources: Type.Array(SourceNote, { description: "Each source's part in the value, as the provider computed it." }),
};

/** The evidence for a decision on a spot price. */
export const SpotPriceRecord = Type.Object(
  {
    kind: Type.Literal("spot_price"),
    ...decision,
    policy: Type.Object(
      {
        minSources: Type.Integer({ minimum: 1 }),
        maxDeviationBps: Type.Integer({ minimum: 1 }),
        maxQuoteAge: Type.Integer({ minimum: 1 }),
      },
      strict,
    ),
    specs: Type.Array(Hash, { description: "The sources that were asked for the value and for rates." }),
  },
  strict,
);
export type SpotPriceRecord = Static<typeof SpotPriceRecord>;

/** The evidence for a decision on a Web Oracle key. The key contains its arguments. */
export const WebOracleRecord = Type.Object(
  {
    kind: Type.Literal("web_oracle"),
    ...decision,
    spec: Hash,
  },
  strict,
);
export type WebOracleRecord = Static<typeof WebOracleRecord>;

export type EvidenceRecord = SpotPriceRecord | WebOracleRecord;
