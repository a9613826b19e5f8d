import { isQuorum } from "@dataset-oracle/protocol/quorum";
import type { Outcome } from "@dataset-oracle/protocol/report";
import type { Failure } from "../providers/failure.js";
import type { ReportStatement } from "../statements/statement.js";

/** A provider's checked report, or why there is none. */
export type ProviderAnswer = ReportStatement | Failure;

/** The outcome of a round, decided as the contract will decide it. */
export type QuorumDecision =
  | { readonly kind: "update"; readonly outcome: Outcome; readonly reports: readonly ReportStatement[] }
  | { readonly kind: "unknown_key" }
  | { readonly kind: "no_quorum" };

/**
 * Decides as the contract will: values and "no data" never mix, and a member that did not sign the same outcome counts
 * as absent.
 *
 * @param members The size of the whole committee.
 */
export function decideByQuorum(members: number, answers: readonly ProviderAnswer[]): QuorumDecision {
  const reached = (count: number) => isQuorum(count, members - count);
  for (const outcome of ["OK", "NOT_AVAILABLE"] as const) {
    const reports = reportsOf(outcome, answers);
    if (reached(reports.length)) return { kind: "update", outcome, reports };
  }
  const refusals = answers.filter((answer) => answer.kind === "failure" && answer.refuses === "key");
  return { kind: reached(refusals.length) ? "unknown_key" : "no_quorum" };
}

/** Returns the reports that state `outcome`. */
export function reportsOf(outcome: Outcome, answers: readonly ProviderAnswer[]): readonly ReportStatement[] {
  return answers.filter((answer) => answer.kind === "report").filter((report) => report.outcome === outcome);
}
