/** Problems of rooms below the routes, which are going to throw errors of their own instead (`routes/problems.ts`). */

import { OPERATOR_PROBLEMS, writeProblem } from "@dataset-oracle/protocol/operator-problem";
import { ProblemError, problemsOf } from "@dataset-oracle/service/http-server/problem-error";
import { type Address, formatGwei } from "viem";
import type { FeeExcess } from "./transactions/fees.js";

export const problem = problemsOf(OPERATOR_PROBLEMS);

/** A wait in seconds, as a header. */
export const retryAfter = (seconds: number) => ({ headers: { "retry-after": String(seconds) } });

/** The update would change nothing, because newer rounds keep coming. @param stored In seconds since 1970. */
export const staleRound = (stored: bigint) =>
  problem(
    "update_reverted",
    {
      fact: "Newer rounds of this key keep being stored first",
      fix: `Round ${stored} is stored or pending. Query the key, or try again in a few seconds.`,
    },
    { extras: { error: null } },
  );

/** A gas budget is spent. */
export class GasBudgetSpent extends ProblemError {
  /**
   * @param payer The caller whose share of the budget is spent; null if the whole budget is.
   */
  constructor(
    readonly payer: string | null,
    isNewKey: boolean,
    seconds: number,
  ) {
    const whose = payer === null ? "This operator's" : "Your share of this operator's";
    const what = isNewKey ? "keys that are stored for the first time" : "this network";
    super(429, "gas_budget_spent", {
      ...writeProblem("gas_budget_spent", { whose, what, seconds }),
      ...retryAfter(seconds),
    });
    this.name = "GasBudgetSpent";
  }
}

export const shuttingDown = () => problem("shutting_down", {}, retryAfter(1));

/** The update got no nonce in time. */
export const queueFull = (network: number) => problem("queue_full", { network }, retryAfter(5));

/** @param sender The account that cannot pay, which only the operator's owner learns. */
export const outOfFunds = (network: number, sender: Address) =>
  problem("out_of_funds", { network }, { logFields: { sender } });

/** @param reason What the signer answered, which only the operator's owner learns. */
export const signerFailed = (network: number, sender: Address, reason: string) =>
  problem("signer_failed", { network }, { logFields: { sender, reason } });

/** The chain or its nodes ask for more than a setting allows. */
export const feesTooHigh = (network: number, { wanted, cap, setting }: FeeExcess) => {
  const limit = formatGwei(cap);
  const asked = wanted === null ? `more than ${limit}` : formatGwei(wanted);
  return problem("fees_too_high", { network, wanted: asked, cap: limit, setting }, { logFields: { setting } });
};
