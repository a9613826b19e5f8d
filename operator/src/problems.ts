/** Makes the problems that callers get when a request cannot be served. Their texts are declared in the protocol. */

import { KEY_FORM_WORDS, type KeyForm } from "@dataset-oracle/protocol/key-form";
import { writeProblem } from "@dataset-oracle/protocol/operator-problem";
import { ProblemError, problem } from "@dataset-oracle/service/http-server/problem-error";
import { type Address, formatGwei } from "viem";
import type { FeeExcess } from "./transactions/fees.js";

/** A wait in seconds, as a header. */
const retryAfter = (seconds: number) => ({ headers: { "retry-after": String(seconds) } });

/** The part of a request that is not valid, by the code of its problem. */
export type InvalidPart = "bad_request" | "invalid_body" | "invalid_query" | "invalid_path";

/** @param fault What is wrong with the property or parameter, as words after a colon. */
export const invalidMember = (code: InvalidPart, property: string, fault: string) =>
  problem(code, {}, { detail: `${property}: ${fault}`, extras: { errors: [{ property, problem: fault }] } });

export const unknownNetwork = (network: number, served: readonly number[]) =>
  problem("unknown_network", { network, served: served.join(", ") }, { extras: { served_network_ids: served } });

export const invalidKey = (form: KeyForm) => problem("invalid_key", { form: KEY_FORM_WORDS[form] });

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

/**
 * @param error The contract's error with its arguments; null when the node gave none.
 * @param cause The node's answer, for the log.
 * @param fix A sentence.
 */
export function updateReverted(
  error: string | null,
  cause?: ProblemError,
  fix = "Try again in a few seconds.",
): ProblemError {
  const reverted = problem(
    "update_reverted",
    { fact: `The dataset refuses the update${error === null ? "" : `: ${error}`}`, fix: `Nothing was changed. ${fix}` },
    { extras: { error }, ...(cause && { logFields: cause.logFields }) },
  );
  reverted.cause = cause;
  return reverted;
}

export const tooManyBroadcasts = (max: number, seconds: number) =>
  problem("too_many_broadcasts", { max, seconds }, retryAfter(seconds));

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

/** @param who Begins the sentence "... may make N such requests". */
export const tooManyNewKeys = (max: number, seconds: number, who = "A caller") =>
  problem(
    "too_many_requests",
    { who, max, seconds },
    {
      title: "Too many requests for keys that were never stored.",
      detail:
        `${who} may make ${max} such requests per minute, because each one asks every data provider. Try ` +
        `again in ${seconds} s. Requests for keys that are stored or configured do not count.`,
      ...retryAfter(seconds),
    },
  );

/** The network is configured, but its chain could not be read yet, or cannot now. */
export const notReady = (network: number) => problem("not_ready", { network }, retryAfter(5));

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
