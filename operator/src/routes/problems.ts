/** Makes the problems that callers get when a request cannot be served. Their texts are declared in the protocol. */

import { KEY_FORM_WORDS, type KeyForm } from "@dataset-oracle/protocol/key-form";
import { OPERATOR_PROBLEMS } from "@dataset-oracle/protocol/operator-problem";
import { ProblemError, problemMaker } from "@dataset-oracle/service/http-server/problem-error";
import { formatGwei } from "viem";
import { UpdateReverted } from "../dataset/contract.js";
import type { Failure } from "../reports/failures.js";
import { NoQuorum } from "../reports/quorum.js";
import { RpcError } from "../rpc/rpc-error.js";
import { NotSent } from "../transactions/not-sent.js";
import { KeyNotServed } from "../update/builder.js";
import { Overtaken } from "../update/updates.js";

export const problem = problemMaker(OPERATOR_PROBLEMS);

/** A wait in seconds, as a header. */
const retryAfter = (seconds: number) => ({ headers: { "retry-after": String(seconds) } });

/** Finds the problem of an error that the modules below the routes throw; null for one that is not expected. */
export function problemOf(error: unknown): ProblemError | null {
  if (error instanceof ProblemError) return error;
  if (error instanceof RpcError) {
    const { kind, chainId: network, method, reason } = error;
    return problem(kind === "timeout" ? "rpc_timeout" : "rpc_failed", { network }, { logFields: { method, reason } });
  }
  if (error instanceof NoQuorum) {
    const { members, signed, failed, failures, isLasting } = error;
    const advice = isLasting ? "" : " Try again in a few seconds.";
    return problem("no_quorum", { members, signed, failed, advice }, { extras: { failures: failures.map(toMember) } });
  }
  if (error instanceof KeyNotServed) {
    const { explanation, failures } = error;
    return problem(
      "unknown_key",
      { explanation },
      { extras: { ...(failures && { failures: failures.map(toMember) }) } },
    );
  }
  if (error instanceof UpdateReverted) {
    const { error: named, fix, cause } = error;
    return problem(
      "update_reverted",
      {
        fact: `The dataset refuses the update${named === null ? "" : `: ${named}`}`,
        fix: `Nothing was changed. ${fix}`,
      },
      { extras: { error: named }, logFields: cause === null ? {} : { method: cause.method, reason: cause.reason } },
    );
  }
  if (error instanceof Overtaken) {
    const fact = "Newer rounds of this key keep being stored first";
    const fix = `${error.message} Query the key, or try again in a few seconds.`;
    return problem("update_reverted", { fact, fix }, { extras: { error: null } });
  }
  return error instanceof NotSent ? problemOfSending(error) : null;
}

/** The owner learns more than callers: `logFields`. */
function problemOfSending({ chainId: network, fault }: NotSent): ProblemError {
  switch (fault.kind) {
    case "no_sender":
      return problem("broadcast_unavailable", { network });
    case "queue_full":
      return problem("queue_full", { network }, retryAfter(5));
    case "shutting_down":
      return shuttingDown();
    case "out_of_funds":
      return problem("out_of_funds", { network }, { logFields: { sender: fault.sender } });
    case "signer_failed":
      return problem("signer_failed", { network }, { logFields: { sender: fault.sender, reason: fault.reason } });
    case "gas_spent": {
      const whose = fault.payer === null ? "This operator's" : "Your share of this operator's";
      const what = fault.budget === "new" ? "keys that are stored for the first time" : "this network";
      const seconds = fault.retryAfterSeconds;
      return problem("gas_budget_spent", { whose, what, seconds }, retryAfter(seconds));
    }
    case "fees_too_high": {
      const { wanted, cap: most, setting } = fault.excess;
      const cap = formatGwei(most);
      const asked = wanted === null ? `more than ${cap}` : formatGwei(wanted);
      return problem("fees_too_high", { network, wanted: asked, cap, setting }, { logFields: { setting } });
    }
  }
}

export const shuttingDown = () => problem("shutting_down", {}, retryAfter(1));

const toMember = ({ provider, host, reason, detail }: Failure) => ({ provider, host, reason, detail });

/** The part of a request that is not valid, by the code of its problem. */
export type InvalidPart = "bad_request" | "invalid_body" | "invalid_query" | "invalid_path";

/** @param fault What is wrong with the property or parameter, as words after a colon. */
export const invalidMember = (code: InvalidPart, property: string, fault: string) =>
  problem(code, {}, { detail: `${property}: ${fault}`, extras: { errors: [{ property, problem: fault }] } });

export const unknownNetwork = (network: number, served: readonly number[]) =>
  problem("unknown_network", { network, served: served.join(", ") }, { extras: { served_network_ids: served } });

export const invalidKey = (form: KeyForm) => problem("invalid_key", { form: KEY_FORM_WORDS[form] });

export const tooManyBroadcasts = (max: number, seconds: number) =>
  problem("too_many_broadcasts", { max, seconds }, retryAfter(seconds));

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
export const notReady = (network: number, text: { readonly title?: string; readonly detail?: string } = {}) =>
  problem("not_ready", { network }, { ...retryAfter(5), ...text });
