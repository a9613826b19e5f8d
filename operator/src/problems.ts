/** The problems that callers get when a request cannot be served. */

import { KEY_FORM_WORDS, type KeyForm } from "@dataset-oracle/protocol/key-form";
import { isQuorum } from "@dataset-oracle/protocol/quorum";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { type Address, formatGwei } from "viem";
import type { Failure, FailureReason } from "./providers/failure.js";

export const invalidProperty = (property: string, problem: string) =>
  new ProblemError(400, "invalid_body", {
    title: "The request's body is not valid.",
    detail: `${property}: ${problem}`,
    extras: { errors: [{ property, problem }] },
  });

/** The gateway got a lookup that no lens would send. @param detail A sentence. */
export const invalidLookup = (detail: string) =>
  new ProblemError(400, "bad_request", { title: "The lookup is not valid.", detail });

/** @param problems One sentence for each parameter. */
export const invalidQuery = (problems: readonly string[]) =>
  new ProblemError(400, "invalid_query", {
    title: "The request's query is not valid.",
    detail: `${problems.join(" ")} GET /docs, under the operator's base URL, describes the parameters.`,
  });

/** @param problem A sentence. */
export const invalidParameter = (name: string, problem: string) => invalidQuery([`${name}: ${problem}`]);

export const rangeTooWide = (blocks: number, max: number) =>
  new ProblemError(422, "range_too_wide", {
    title: `${blocks} blocks are more than one request may cover.`,
    detail:
      `Ask for at most ${max} blocks: narrow the range, or omit \`from\` and, for older updates, set \`to\` to the ` +
      "block before the answer's `from`.",
  });

export const unknownNetwork = (networkId: number, served: readonly number[]) =>
  new ProblemError(422, "unknown_network", {
    title: `Network ${networkId} is not served here.`,
    detail: `Use one of the networks that this operator serves: ${served.join(", ")}.`,
    extras: { served_network_ids: served },
  });

export const unknownDataset = (dataset: Address, networkId: number) =>
  new ProblemError(404, "unknown_dataset", {
    title: `Dataset ${dataset} is not served on network ${networkId}.`,
    detail: "GET /datasets, under the operator's base URL, lists what is served.",
  });

export const unknownProvider = (provider: Address) =>
  new ProblemError(404, "unknown_provider", {
    title: `This operator does not ask the provider ${provider}.`,
    detail: "GET /datasets, under the operator's base URL, lists the providers that it asks.",
  });

/** @param failure The provider's answer. */
export const noEvidence = ({ provider, detail }: Failure) =>
  new ProblemError(404, "no_evidence", {
    title: "The provider shows no evidence for this round.",
    detail:
      `${provider} ${detail}. Each provider decides whether it shows evidence and how long it keeps it. If the round ` +
      "is new, try again in a second; otherwise ask for another provider's evidence.",
  });

/** @param failure The provider's answer, or why there was none. */
export const evidenceFailed = ({ provider, detail }: Failure) =>
  new ProblemError(502, "evidence_failed", {
    title: "The provider's evidence cannot be read now.",
    detail: `${provider} ${detail}. Try again in a few seconds, or ask for another provider's evidence.`,
  });

export function notWebOracle(dataset: Address): ProblemError {
  return invalidProperty(
    "dataset",
    `${dataset} does not belong to the Web Oracle. Use one that GET /overview lists with the key_form WEB_ORACLE.`,
  );
}

/** @param detail What a provider says, as a sentence. */
export const invalidArguments = (detail: string) =>
  new ProblemError(422, "invalid_arguments", { title: "The arguments do not fit the request spec.", detail });

/** @param errors The mistakes, each with its place in the spec. */
export const invalidSpec = (errors: readonly { readonly property: string; readonly problem: string }[]) =>
  new ProblemError(422, "invalid_spec", {
    title: "The request spec is not valid.",
    detail: "Fix the mistakes that `errors` lists, each with a JSON pointer to its place in the spec, and try again.",
    extras: { errors },
  });

export const hostNotAllowed = (provider: Address) =>
  new ProblemError(422, "host_not_allowed", {
    title: "No provider that was asked allows trials to query all of the spec's hosts.",
    detail:
      `Each provider's owner decides which hosts trials may query. Ask the owner of ${provider} to allow these, or ` +
      "use other hosts.",
  });

export const trialsOff = () =>
  new ProblemError(404, "trials_off", {
    title: "No provider that was asked offers trials.",
    detail: 'Each provider\'s owner decides whether it does. You can try the spec yourself, with "web-oracle try".',
  });

/** @param retryAfter In seconds. */
export const trialsBusy = (retryAfter: number) =>
  new ProblemError(503, "trials_busy", {
    title: "Too many trials are running.",
    detail: `Trials have limits of their own, and other callers are using them up. Try again in ${retryAfter} s.`,
    headers: { "retry-after": String(retryAfter) },
  });

/** @param failure The provider's answer, or why there was none. */
export const trialFailed = ({ provider, detail }: Failure) =>
  new ProblemError(502, "trial_failed", {
    title: "The spec could not be tried.",
    detail: `${provider} ${detail}. Try again in a few seconds, or name another provider.`,
  });

/** @param detail A sentence. */
export const invalidTransaction = (detail: string) =>
  new ProblemError(422, "invalid_transaction", { title: "The transaction was not accepted.", detail });

/** A request came to a path for nodes, and no node of the network has signed it. */
export const unknownNode = () =>
  new ProblemError(401, "unknown_node", {
    title: "No node of this network has signed this request.",
    detail:
      "Sign it with the key of your node's submitter, addressed to this node, with the current time. GET /docs, " +
      "under the operator's base URL, describes the header.",
  });

export const invalidKey = (form: KeyForm) =>
  new ProblemError(422, "invalid_key", {
    title: "The key does not have the form of this dataset's keys.",
    detail: `This dataset's keys have the form ${KEY_FORM_WORDS[form]}.`,
  });

/**
 * @param explanation What the providers answered, and what can be done about it. Sentences.
 * @param failures One for each provider, if they were asked for this request.
 */
export function unknownKey(explanation: string, failures: readonly Failure[] = []): ProblemError {
  return new ProblemError(422, "unknown_key", {
    title: "The data providers do not serve this key.",
    detail: `Nothing was sent. ${explanation} The providers can be asked for this key again after a minute.`,
    extras: failures.length === 0 ? {} : { failures: failures.map(toMember) },
  });
}

export const noSender = (networkId: number) =>
  new ProblemError(422, "broadcast_unavailable", {
    title: `This operator does not broadcast on network ${networkId}.`,
    detail: 'Send "broadcast": false, and send the returned transaction from your own account.',
  });

/** The reasons of failures that last until somebody corrects a configuration. */
const NEEDS_CORRECTION: readonly FailureReason[] = ["no_endpoint", "other_report", "wrong_signer"];

/** Too few data providers signed the same thing. */
export class NoQuorum extends ProblemError {
  /**
   * @param members The size of the committee.
   * @param signed Says how many signed what; follows "Of 4 data providers, ".
   */
  constructor(
    readonly members: number,
    signed: string,
    readonly failures: readonly Failure[],
  ) {
    const failed = failures.map(({ provider, host, detail }) => `${provider}${host ? ` (${host})` : ""}: ${detail}.`);
    const lost = failures.filter(({ reason }) => NEEDS_CORRECTION.includes(reason)).length;
    const canRecover = isQuorum(members - lost, lost);
    super(503, "no_quorum", {
      title: "No quorum: more than two thirds of the data providers have to sign.",
      detail: [
        `Of ${members} data providers, ${signed}.`,
        ...failed,
        "Nothing was sent.",
        ...(canRecover ? ["Try again in a few seconds."] : []),
      ].join(" "),
      extras: { failures: failures.map(toMember) },
    });
    this.name = "NoQuorum";
  }
}

/** A failure as a member of the answer's body. */
function toMember({ provider, host, reason, detail }: Failure) {
  return { provider, host, reason, detail };
}

/** @param stored The newest round that is stored or pending, in seconds since 1970. */
export const staleRound = (stored: bigint) =>
  new ProblemError(503, "update_reverted", {
    title: "Newer rounds of this key keep being stored first.",
    detail: `Round ${stored} is stored or pending. Query the key, or try again in a few seconds.`,
    extras: { error: null },
  });

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
  const problem = new ProblemError(503, "update_reverted", {
    title: `The dataset refuses the update${error === null ? "" : `: ${error}`}.`,
    detail: `Nothing was changed. ${fix}`,
    extras: { error },
    ...(cause && { logFields: cause.logFields }),
  });
  problem.cause = cause;
  return problem;
}

/** The node executed the dataset's code, and met an instruction that its EVM does not know. */
export function evmTooOld(cause: ProblemError): ProblemError {
  const fix = "The network's EVM is older than Cancun, which the dataset's code needs.";
  return updateReverted("invalid opcode", cause, fix);
}

export const tooManyBroadcasts = (perMinute: number, retryAfterSeconds: number) =>
  new ProblemError(429, "too_many_broadcasts", {
    title: "Too many broadcasts.",
    detail:
      `The limit is ${perMinute} broadcasts per minute. Try again in ${retryAfterSeconds} s, or send "broadcast": false and ` +
      "send the transaction yourself.",
    headers: { "retry-after": String(retryAfterSeconds) },
  });

/** A gas budget is spent. */
export class GasBudgetSpent extends ProblemError {
  /**
   * @param payer The caller whose share of the budget is spent; null if the whole budget is.
   */
  constructor(
    readonly payer: string | null,
    isNewKey: boolean,
    retryAfterSeconds: number,
  ) {
    const budget = isNewKey ? "keys that are stored for the first time" : "this network";
    super(429, "gas_budget_spent", {
      title: `${payer === null ? "This operator's" : "Your share of this operator's"} hourly gas budget for ${budget} is spent.`,
      detail: `Try again in ${retryAfterSeconds} s, or send "broadcast": false and send the transaction yourself.`,
      headers: { "retry-after": String(retryAfterSeconds) },
    });
    this.name = "GasBudgetSpent";
  }
}

/** @param who Begins the sentence "... may make N such requests". */
export const tooManyNewKeys = (perMinute: number, retryAfterSeconds: number, who = "A caller") =>
  new ProblemError(429, "too_many_requests", {
    title: "Too many requests for keys that were never stored.",
    detail:
      `${who} may make ${perMinute} such requests per minute, because each one asks every data provider. Try ` +
      `again in ${retryAfterSeconds} s. Requests for keys that are stored or configured do not count.`,
    headers: { "retry-after": String(retryAfterSeconds) },
  });

export const shuttingDown = () =>
  new ProblemError(503, "shutting_down", {
    title: "This operator is shutting down.",
    detail: "Try again in a few seconds. A pending update stays pending.",
    headers: { "retry-after": "1" },
  });

/** @param sender The account that cannot pay, which only the operator's owner learns. */
export const outOfFunds = (networkId: number, sender: Address) =>
  new ProblemError(503, "out_of_funds", {
    title: `The operator's account on network ${networkId} cannot pay for the transaction.`,
    detail: 'Send "broadcast": false and send the transaction yourself, or try again later.',
    logFields: { sender },
  });

/** @param wanted The fee per gas that the chain asks for, in wei, like `cap`. */
export const feesTooHigh = (networkId: number, wanted: bigint, cap: bigint) =>
  new ProblemError(503, "fees_too_high", {
    title:
      `Gas on network ${networkId} costs ${formatGwei(wanted)} gwei, more than the ${formatGwei(cap)} gwei that this ` +
      "operator pays.",
    detail: 'Send "broadcast": false and send the transaction yourself, or try again later.',
  });

export const notReady = (networkId: number) =>
  new ProblemError(503, "not_ready", {
    title: `Network ${networkId} cannot be read at the moment.`,
    detail: "Try again in a few seconds.",
  });
