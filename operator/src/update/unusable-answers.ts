import type { SignedReport } from "@dataset-oracle/protocol/http-schemas/reports";

/** The reason why a member that signed two contents for one key and round is not counted. */
export const CONTRADICTED = ["contradicted", "signed two conflicting statements about one key and round"] as const;

/** The fields that a report and a row share. */
type SharedFields = Pick<SignedReport, "network_id" | "dataset" | "timestamp" | "provider">;

/** Names the first of the shared fields in which an answer differs from what was asked for. */
export function firstDifference(answer: SharedFields, expected: SharedFields): string | null {
  if (answer.network_id !== expected.network_id) return "network";
  if (answer.dataset !== expected.dataset) return "dataset";
  if (answer.timestamp !== expected.timestamp) return "round";
  return answer.provider === expected.provider ? null : "provider";
}

export const answeredForOther = (difference: string, { provider }: SharedFields) =>
  difference === "provider"
    ? `signs as ${provider}: the operator's owner must correct \`providers\`, or the provider's owner must correct the announced node`
    : `answered for a different ${difference} than the one requested`;
