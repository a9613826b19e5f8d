import type { Address } from "viem";

/** The reasons why a provider's answer is not used. Stable, because programs read them. */
export const FAILURE_REASONS = [
  "no_endpoint",
  "unreachable",
  "timeout",
  "late",
  "redirected",
  "too_large",
  "not_text",
  "refused",
  "source_busy",
  "invalid_report",
  "other_report",
  "value_too_large",
  "wrong_signer",
  "contradicted",
  "unexpected",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** A provider's answer that cannot be used. `detail` completes the sentence "The provider ...". */
export interface Failure {
  readonly kind: "failure";
  readonly provider: Address;
  /** Null when the operator has no endpoint for the provider, and for the reason `unexpected`. */
  readonly host: string | null;
  readonly reason: FailureReason;
  readonly detail: string;
  /** The code of the problem that the provider answered with; null if it did not. */
  readonly code: string | null;
  /**
   * Set when a provider that works refuses: a key that it does not serve, or this question, while it may answer one
   * about other keys. Null for every other failure.
   */
  readonly refuses: "key" | "question" | null;
}

/** Tells a failure from an answer that can be used. */
export function isFailure(answer: { readonly kind: string }): answer is Failure {
  return answer.kind === "failure";
}

export type Fail = (reason: FailureReason, detail: string) => Failure;

/** A failure as a member of a problem's body. */
export function toProblemMember({ provider, host, reason, detail }: Failure) {
  return { provider, host, reason, detail };
}
