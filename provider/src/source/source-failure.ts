import { err, type Result } from "@dataset-oracle/protocol/result";
import type { EgressFailure } from "@dataset-oracle/service/untrusted/egress";

/**
 * The reasons why a source's value is missing or not used. They are stable, because logs, metrics and evidence contain
 * them.
 */
export type FailureCode =
  | EgressFailure
  | "throttled"
  | "not_asked"
  | "http_status"
  | "not_json"
  | "source_error"
  | "no_node"
  | "several_nodes"
  | "path_too_costly"
  | "not_a_number"
  | "not_a_date"
  | "negative"
  | "zero"
  | "number_too_large"
  | "not_a_bool"
  | "not_bytes32"
  | "not_a_string"
  | "string_too_long"
  | "no_quote_time"
  | "no_spread"
  | "no_rate"
  | "too_old"
  | "from_the_future"
  | "outlier";

export interface SourceFailure {
  readonly code: FailureCode;
  /** The explanation, for people. */
  readonly detail: string;
  /**
   * The seconds to wait until the source can be asked again. Set for `throttled`, the source's own answer that its rate
   * limit is used up, and for `not_asked`: the provider left it alone for reasons of its own, which depend on who asks,
   * so it is unknown what the source would have answered.
   */
  readonly retryAfter?: number;
}

/** The result of reading something from a source. */
export type Reading<T> = Result<T, SourceFailure>;

export const failed = (code: FailureCode, detail: string): Reading<never> => err({ code, detail });

/** @param retryAfter In seconds. */
export const throttled = (detail: string, retryAfter: number): Reading<never> =>
  err({ code: "throttled", detail, retryAfter });

/** @param retryAfter In seconds. */
export const notAsked = (detail: string, retryAfter: number): Reading<never> =>
  err({ code: "not_asked", detail, retryAfter });

/** Tells whether it is unknown what a source says, because it was not asked. */
export const isUnknown = (failure: SourceFailure | null): boolean => failure?.code === "not_asked";
