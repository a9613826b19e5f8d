import { type Static, Type } from "@sinclair/typebox";

const strict = { additionalProperties: false } as const;
const Hash = Type.String({ pattern: "^[0-9a-f]{64}$", description: "SHA-256, in hex." });

/** What came of one request: the answer's hash, or why there was none. */
export const RecordedAnswer = Type.Object(
  {
    method: Type.Union([Type.Literal("GET"), Type.Literal("POST")]),
    url: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
    body: Type.Optional(Type.String()),
    text: Type.Union([Hash, Type.Null()]),
    failure: Type.Union([Type.String(), Type.Null()]),
    detail: Type.Union([Type.String(), Type.Null()]),
    retry_after: Type.Union([Type.Number(), Type.Null()]),
  },
  strict,
);
export type RecordedAnswer = Static<typeof RecordedAnswer>;

/** An evidence file: what a decision was made of. Specs and answers lie beside it, named by their hashes. */
export const EvidenceRecord = Type.Object(
  {
    version: Type.Literal(1),
    network_id: Type.Integer(),
    dataset: Type.String(),
    key: Type.String(),
    timestamp: Type.Integer({ description: "The round, in seconds." }),
    outcome: Type.Union([Type.Literal("OK"), Type.Literal("NOT_AVAILABLE")]),
    value: Type.String(),
    at: Type.String({ pattern: "^\\d{1,20}$", description: "When the reading began, in whole seconds." }),
    policy: Type.Object(
      {
        minSources: Type.Integer({ minimum: 1 }),
        maxDeviationBps: Type.Integer({ minimum: 1 }),
        maxQuoteAge: Type.Integer({ minimum: 1 }),
      },
      strict,
    ),
    specs: Type.Array(Hash, { description: "The sources that were asked, for the value and for rates." }),
    overrides: Type.Record(Type.String(), Type.String(), {
      description: "The origins that were not asked, and what was asked instead: for development alone.",
    }),
    answers: Type.Array(RecordedAnswer),
  },
  strict,
);
export type EvidenceRecord = Static<typeof EvidenceRecord>;
