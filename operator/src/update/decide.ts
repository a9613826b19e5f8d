import { isQuorum } from "@dataset-oracle/protocol/quorum";
import type { Outcome } from "@dataset-oracle/protocol/report";
import type { SignedValue } from "@dataset-oracle/protocol/update";
import type { ProviderAnswer } from "./ask.js";

/** What a committee's answers come to. */
export type Decision =
  | { readonly kind: "update"; readonly outcome: Outcome; readonly reports: readonly SignedValue[] }
  | { readonly kind: "unknown_key" }
  | { readonly kind: "no_quorum" };

/**
 * Decides as the contract will: values and "no data" never mix, and whoever did not sign the same outcome is absent.
 *
 * @param members The size of the whole committee.
 */
export function decide(members: number, answers: readonly ProviderAnswer[]): Decision {
  const reached = (count: number) => isQuorum(count, members - count);
  for (const outcome of ["OK", "NOT_AVAILABLE"] as const) {
    const reports = reportsOf(outcome, answers);
    if (reached(reports.length)) return { kind: "update", outcome, reports };
  }
  const refusals = answers.filter(({ kind }) => kind === "unknown_key");
  return { kind: reached(refusals.length) ? "unknown_key" : "no_quorum" };
}

/** The reports that say `outcome`. */
export function reportsOf(outcome: Outcome, answers: readonly ProviderAnswer[]): readonly SignedValue[] {
  return answers.flatMap((answer) => {
    if (answer.kind !== "report" || answer.outcome !== outcome) return [];
    const { provider, value, signature } = answer;
    return [{ provider, value, signature }];
  });
}
