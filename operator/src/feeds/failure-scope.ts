import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { RpcError } from "../chain/rpc-error.js";
import { FeedGasSpent } from "../gas-budget.js";
import { NoQuorum } from "../problems.js";

/** How much a failed update says about others: all that need the same committee or sender fail too, or only this one. */
export type FailureScope = "committee" | "sending" | "update";

const SENDING_PROBLEMS = ["out_of_funds", "fees_too_high", "shutting_down"];

/**
 * Decides whether the keys of a batch that failed can succeed one by one. When the committee is silent or the sender cannot
 * send, asking for each would multiply the load and change nothing.
 */
export function isWorthSplitting(error: unknown): boolean {
  // The rest of the gas budget can be enough for some of the keys.
  return failureScopeOf(error) === "update" || error instanceof FeedGasSpent;
}

/** Decides how far a failure reaches. */
export function failureScopeOf(error: unknown): FailureScope {
  if (error instanceof FeedGasSpent) return "sending";
  if (error instanceof RpcError) return error.kind === "refused" ? "update" : "sending";
  if (error instanceof NoQuorum) return isCommitteeDown(error) ? "committee" : "update";
  return error instanceof ProblemError && SENDING_PROBLEMS.includes(error.code) ? "sending" : "update";
}

/** Reports whether so many members gave no usable answer that no update can reach a quorum. */
function isCommitteeDown({ members, failures }: NoQuorum): boolean {
  const silent = failures.filter(({ refuses }) => refuses === null).length;
  return !isQuorum(members - silent, silent);
}
