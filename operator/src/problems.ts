/** The problems that callers get when a request cannot be served. */

import { KEY_FORM_WORDS, type KeyForm } from "@dataset-oracle/protocol/key";
import { ProblemError } from "@dataset-oracle/service/http-server/problem";
import { type Address, formatGwei } from "viem";
import type { Failure } from "./update/ask-provider.js";

export function invalidProperty(property: string, problem: string): ProblemError {
  return new ProblemError({
    title: "The request's body is not valid.",
    status: 400,
    code: "invalid_body",
    detail: `${property}: ${problem}`,
    extras: { errors: [{ property, problem }] },
  });
}

/** The problem of a lens's question that is not one. @param detail A sentence. */
export function invalidLookup(detail: string): ProblemError {
  return new ProblemError({ title: "The lookup cannot be read.", status: 400, code: "bad_request", detail });
}

/** @param problems One sentence for each parameter. */
export function invalidQuery(problems: readonly string[]): ProblemError {
  return new ProblemError({
    title: "The request's query is not valid.",
    status: 400,
    code: "invalid_query",
    detail: `${problems.join(" ")} GET /docs, next to this path, describes the parameters.`,
  });
}

export function rangeTooWide(blocks: number, max: number): ProblemError {
  return new ProblemError({
    title: `${blocks} blocks are more than one request may cover.`,
    status: 422,
    code: "range_too_wide",
    detail: `Ask for at most ${max} blocks: narrow from and to, or omit from and continue at the from of the answer.`,
  });
}

export function unknownNetwork(networkId: number, served: readonly number[]): ProblemError {
  return new ProblemError({
    title: `Network ${networkId} is not served here.`,
    status: 422,
    code: "unknown_network",
    detail: `This operator serves ${served.join(", ")}.`,
    extras: { served_network_ids: served },
  });
}

export function unknownDataset(dataset: Address, networkId: number): ProblemError {
  return new ProblemError({
    title: `Dataset ${dataset} is not served on network ${networkId}.`,
    status: 404,
    code: "unknown_dataset",
    detail: "GET /datasets, next to this path, lists what is served.",
  });
}

export function unknownProvider(provider: Address): ProblemError {
  return new ProblemError({
    title: `This operator does not ask the provider ${provider}.`,
    status: 404,
    code: "unknown_provider",
    detail: "GET /datasets, next to this path, lists the providers that it asks.",
  });
}

/** @param failure The provider's answer. */
export function noEvidence({ provider, detail }: Failure): ProblemError {
  return new ProblemError({
    title: "The provider shows no evidence for this round.",
    status: 404,
    code: "no_evidence",
    detail:
      `${provider} ${detail}. Each provider decides if it shows evidence and how long it keeps it. For a new round, try ` +
      "again in a second; else ask for another provider's.",
  });
}

/** @param failure The provider's answer, or why there was none. */
export function evidenceFailed({ provider, detail }: Failure): ProblemError {
  return new ProblemError({
    title: "The provider's evidence cannot be read now.",
    status: 502,
    code: "evidence_failed",
    detail: `${provider} ${detail}. Try again in a few seconds, or ask for another provider's.`,
  });
}

export function notWebOracle(dataset: Address): ProblemError {
  return invalidProperty(
    "dataset",
    `${dataset} does not belong to the Web Oracle. GET /overview, next to this path, lists each dataset's key_form.`,
  );
}

/** @param detail What a provider says, as a sentence. */
export function invalidArguments(detail: string): ProblemError {
  return new ProblemError({
    title: "The arguments do not fit the request spec.",
    status: 422,
    code: "invalid_arguments",
    detail,
  });
}

/** @param errors The mistakes, each with its place in the spec. */
export function invalidSpec(errors: readonly { readonly property: string; readonly problem: string }[]): ProblemError {
  return new ProblemError({
    title: "The request spec is not valid.",
    status: 422,
    code: "invalid_spec",
    detail: "Fix each place that `errors` names, a JSON pointer into the spec, and try again.",
    extras: { errors },
  });
}

export function hostNotAllowed(provider: Address): ProblemError {
  return new ProblemError({
    title: "No provider that was asked lets trials ask all of the spec's hosts.",
    status: 422,
    code: "host_not_allowed",
    detail: `Each provider's owner decides which hosts are asked. Ask the owner of ${provider} to add them, or choose others.`,
  });
}

export function trialsOff(): ProblemError {
  return new ProblemError({
    title: "No provider that was asked offers trials.",
    status: 404,
    code: "trials_off",
    detail: 'Each provider\'s owner decides if it does. You can try the spec yourself, with "web-oracle try".',
  });
}

/** @param retryAfter In seconds. */
export function trialsBusy(retryAfter: number): ProblemError {
  return new ProblemError({
    title: "No further trial can be made now.",
    status: 503,
    code: "trials_busy",
    detail: `Trials have limits of their own, and others are using them. Try again in ${retryAfter} s.`,
    headers: { "retry-after": String(retryAfter) },
  });
}

/** @param failure The provider's answer, or why there was none. */
export function trialFailed({ provider, detail }: Failure): ProblemError {
  return new ProblemError({
    title: "The spec could not be tried.",
    status: 502,
    code: "trial_failed",
    detail: `${provider} ${detail}. Try again in a few seconds, or name another provider.`,
  });
}

/** @param detail A sentence. */
export function invalidTransaction(detail: string): ProblemError {
  return new ProblemError({
    title: "The transaction was not accepted.",
    status: 422,
    code: "invalid_transaction",
    detail,
  });
}

/** A request came to a path for nodes, and no node of the network has signed it. */
export function unknownNode(): ProblemError {
  return new ProblemError({
    title: "No node of this network has signed this request.",
    status: 401,
    code: "unknown_node",
    detail:
      "Sign it with the submitter key listed for your node, addressed to this node, with the current time. GET /docs, next to this " +
      "path, describes the header.",
  });
}

export function invalidKey(form: KeyForm): ProblemError {
  return new ProblemError({
    title: "The key does not have the form of this dataset's keys.",
    status: 422,
    code: "invalid_key",
    detail: `This dataset's keys are ${KEY_FORM_WORDS[form]}.`,
  });
}

/** @param failures One for each provider, if they were asked for this request. */
export function unknownKey(failures: readonly Failure[] = []): ProblemError {
  const details = [...new Set(failures.map(({ detail }) => detail))];
  const said = details.length === 0 ? "" : ` Answers of the providers: ${details.join("; ")}.`;
  return new ProblemError({
    title: "The data providers do not serve this key.",
    status: 422,
    code: "unknown_key",
    detail:
      `Nothing was sent.${said} GET /datasets, next to this path, lists the served keys; a Web Oracle key is served ` +
      "once its request spec is published. The providers can be asked for this key again after a minute.",
    extras: failures.length === 0 ? {} : { failures: failures.map(toMember) },
  });
}

export function noSender(networkId: number): ProblemError {
  return new ProblemError({
    title: `This operator does not broadcast on network ${networkId}.`,
    status: 422,
    code: "broadcast_unavailable",
    detail: 'Send "broadcast": false, and send the returned transaction from your own account.',
  });
}

/** Too few data providers signed the same thing. */
export class NoQuorum extends ProblemError {
  /**
   * @param members The size of the committee.
   * @param signed Says how many members signed what, in one sentence.
   */
  constructor(
    readonly members: number,
    signed: string,
    readonly failures: readonly Failure[],
  ) {
    const failed = failures.map(({ provider, host, detail }) => `${provider}${host ? ` (${host})` : ""}: ${detail}.`);
    super({
      title: "No quorum: more than two thirds of the data providers have to sign.",
      status: 503,
      code: "no_quorum",
      detail: [signed, ...failed, "Nothing was sent. Try again in a few seconds."].join(" "),
      extras: { failures: failures.map(toMember) },
    });
    this.name = "NoQuorum";
  }
}

/**
 * @param members The size of the committee.
 * @param values How many members signed a value.
 * @param noData How many members signed that there is none.
 */
export function noQuorum(members: number, values: number, noData: number, failures: readonly Failure[]): NoQuorum {
  const signed = `Of ${members} data providers, ${values} signed a value and ${noData} signed that there is none.`;
  return new NoQuorum(members, signed, failures);
}

/** @param rows How many of the members signed a row of the batch. */
export function noQuorumOfRows(members: number, rows: number, failures: readonly Failure[]): NoQuorum {
  return new NoQuorum(members, `Of ${members} data providers, ${rows} signed a row of the batch.`, failures);
}

/** A failure as a member of the answer's body. */
function toMember({ provider, host, reason, detail }: Failure) {
  return { provider, host, reason, detail };
}

/** @param stored The newest round that is stored or pending, in seconds since 1970. */
export function staleRound(stored: bigint): ProblemError {
  return new ProblemError({
    title: "Others keep storing newer rounds of this key.",
    status: 503,
    code: "update_reverted",
    detail: `Round ${stored} is stored or pending. Query the key, or try again in a few seconds.`,
    extras: { error: null },
  });
}

/**
 * @param error The contract's error with its arguments; null when the node gave none.
 * @param cause The node's answer, for the log.
 * @param fix A sentence.
 */
export function updateReverted(error: string | null, cause?: Error, fix = "Try again in a few seconds."): ProblemError {
  const problem = new ProblemError({
    title: `The dataset refuses the update${error === null ? "" : `: ${error}`}.`,
    status: 503,
    code: "update_reverted",
    detail: `Nothing was changed. ${fix}`,
    extras: { error },
  });
  problem.cause = cause;
  return problem;
}

/** The node executed the dataset's code, and met an instruction that its EVM does not know. */
export function evmTooOld(cause: Error): ProblemError {
  const fix = "The network's EVM is older than Cancun, which the dataset's code needs.";
  return updateReverted("invalid opcode", cause, fix);
}

export function tooManyBroadcasts(perMinute: number, retryAfterSeconds: number): ProblemError {
  return new ProblemError({
    title: "Too many broadcasts.",
    status: 429,
    code: "too_many_broadcasts",
    detail:
      `The limit is ${perMinute} broadcasts per minute. Try again in ${retryAfterSeconds} s, or send "broadcast": false and ` +
      "send the transaction yourself.",
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}

/** A gas budget is spent. */
export class GasBudgetSpent extends ProblemError {
  /**
   * @param sharer The caller whose share of the budget is spent, while others have theirs; null if all of it is.
   */
  constructor(
    readonly sharer: string | null,
    isNewKey: boolean,
    retryAfterSeconds: number,
  ) {
    const budget = isNewKey ? "keys that are stored for the first time" : "this network";
    super({
      title: `${sharer === null ? "This operator's" : "Your share of this operator's"} hourly gas budget for ${budget} is spent.`,
      status: 429,
      code: "gas_budget_spent",
      detail: `Try again in ${retryAfterSeconds} s, or send "broadcast": false and send the transaction yourself.`,
      headers: { "retry-after": String(retryAfterSeconds) },
    });
    this.name = "GasBudgetSpent";
  }
}

/** @param who Begins the sentence "... may make N such requests". */
export function tooManyNewKeys(perMinute: number, retryAfterSeconds: number, who = "A caller"): ProblemError {
  return new ProblemError({
    title: "Too many requests for keys that were never stored.",
    status: 429,
    code: "too_many_requests",
    detail:
      `${who} may make ${perMinute} such requests per minute, because each one asks every data provider. Try ` +
      `again in ${retryAfterSeconds} s. Requests for keys that are stored or configured do not count.`,
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}

export function shuttingDown(): ProblemError {
  return new ProblemError({
    title: "This operator is shutting down.",
    status: 503,
    code: "shutting_down",
    detail: "Try again in a few seconds. A pending update stays pending.",
    headers: { "retry-after": "1" },
  });
}

export function outOfFunds(networkId: number): ProblemError {
  return new ProblemError({
    title: `The operator's account on network ${networkId} cannot pay for the transaction.`,
    status: 503,
    code: "out_of_funds",
    detail: 'Send "broadcast": false and send the transaction yourself, or try again later.',
  });
}

/** @param wanted The fee per gas that the chain asks, in wei, like `cap`. */
export function feesTooHigh(networkId: number, wanted: bigint, cap: bigint): ProblemError {
  return new ProblemError({
    title: `Gas on network ${networkId} costs ${formatGwei(wanted)} gwei, more than the ${formatGwei(cap)} gwei that this operator pays.`,
    status: 503,
    code: "fees_too_high",
    detail: 'Send "broadcast": false and send the transaction yourself, or try again later.',
  });
}

export function notReady(networkId: number): ProblemError {
  return new ProblemError({
    title: `Network ${networkId} cannot be read at the moment.`,
    status: 503,
    code: "not_ready",
    detail: "Try again in a few seconds.",
  });
}
