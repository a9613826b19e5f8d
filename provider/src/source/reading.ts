import type { EgressFailure } from "@dataset-oracle/service/egress/egress";

/** Why a source gave no value; stable, for logs and figures. */
export type FailureCode =
  | EgressFailure
  | "throttled"
  | "http_status"
  | "content_type"
  | "not_json"
  | "source_error"
  | "no_node"
  | "several_nodes"
  | "path_too_costly"
  | "not_a_number"
  | "negative"
  | "zero"
  | "number_too_large"
  | "not_a_bool"
  | "not_bytes32"
  | "not_a_string"
  | "string_too_long"
  | "no_quote_time"
  | "no_rate";

/** What came of reading a source: a value, or why there is none. A source that fails is expected, never a throw. */
export type Reading<T> = { readonly ok: true; readonly value: T } | SourceFailure;

export interface SourceFailure {
  readonly ok: false;
  readonly failure: FailureCode;
  /** For people. */
  readonly detail: string;
  /** Of a source whose rate limit is used up, in seconds. Whether it has a value is not known. */
  readonly retryAfter?: number;
}

export const read = <T>(value: T): Reading<T> => ({ ok: true, value });

export const failed = (failure: FailureCode, detail: string): SourceFailure => ({ ok: false, failure, detail });

export const throttled = (detail: string, retryAfter: number): SourceFailure => ({
  ok: false,
  failure: "throttled",
  detail,
  retryAfter,
});
