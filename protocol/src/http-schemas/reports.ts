/** The schemas of the reports that operators ask providers for. */

import { type Static, Type } from "@sinclair/typebox";
import { MAX_BATCH_KEYS } from "../batch-report.js";
import { Address, BYTES32, HexKey, NetworkId, Outcome, orNull, Signature, strict, Timestamp } from "./fields.js";

/** The data point and the round that a report is about. */
const reportHeader = { network_id: NetworkId, dataset: Address, key: HexKey, timestamp: Timestamp };

/** A provider's `POST /report`: the body. */
export const ReportRequest = Type.Object(reportHeader, strict);
export type ReportRequest = Static<typeof ReportRequest>;

/** A provider's `POST /report`: the answer. */
export const SignedReport = Type.Object(
  {
    ...reportHeader,
    provider: Address,
    outcome: Outcome,
    value: Type.String({ pattern: BYTES32, description: "32 bytes; zero when the outcome is NOT_AVAILABLE." }),
    signature: Signature,
  },
  strict,
);
export type SignedReport = Static<typeof SignedReport>;

/** The contribution of one source to a value. It is information for people and is not signed. */
export const SourceNote = Type.Object(
  {
    name: Type.String(),
    value: orNull(
      Type.String(),
      "The source's value: a decimal string (median) or 32 bytes in hex (majority); null if it failed.",
    ),
    quote_time: orNull(Type.Integer(), "The time of the source's quote, in whole seconds since 1970; null if unknown."),
    used: Type.Boolean({ description: "True if the value was computed from this source, among others." }),
    reason: orNull(Type.String(), "The reason why the source was not used; null if it was."),
  },
  strict,
);
export type SourceNote = Static<typeof SourceNote>;

/** A provider's `POST /report`: the whole answer, with members that are not signed. */
export const ReportAnswer = Type.Object(
  {
    ...SignedReport.properties,
    sources: Type.Optional(
      Type.Array(SourceNote, { description: "The sources of the value, as long as the provider remembers them." }),
    ),
  },
  strict,
);
export type ReportAnswer = Static<typeof ReportAnswer>;

/** The keys and the round that a row of a batch is about. */
const batchHeader = {
  network_id: NetworkId,
  dataset: Address,
  keys: Type.Array(HexKey, {
    minItems: 1,
    maxItems: MAX_BATCH_KEYS,
    uniqueItems: true,
    description: "The keys of the batch, in order.",
  }),
  timestamp: Timestamp,
};

/** A provider's `POST /report/batch`: the body. */
export const BatchReportRequest = Type.Object(batchHeader, strict);
export type BatchReportRequest = Static<typeof BatchReportRequest>;

/** A provider's `POST /report/batch`: the answer, a row of a batch. */
export const SignedBatchReport = Type.Object(
  {
    ...batchHeader,
    provider: Address,
    missing: Type.String({
      pattern: BYTES32,
      description: "A bitmap of 32 bytes, lowest bit first. A set bit marks a key that has no data.",
    }),
    values: Type.Array(Type.String({ pattern: BYTES32 }), {
      description: "One value of 32 bytes for each key; zero if there is no data.",
    }),
    signature: Signature,
  },
  strict,
);
export type SignedBatchReport = Static<typeof SignedBatchReport>;
