/** What callers are told when a request cannot be served. */

import { KEY_FORM_WORDS, type KeyForm } from "@dataset-oracle/protocol/key";
import { ProblemError } from "@dataset-oracle/service/problem";
import { type Address, formatGwei } from "viem";
import { type ProviderAnswer, reportsOf } from "./update/reports.js";

export function invalidProperty(property: string, problem: string): ProblemError {
  return new ProblemError(
    {
      title: "The request's body is not valid.",
      status: 400,
      code: "invalid_body",
      detail: `${property}: ${problem}`,
    },
    { extras: { errors: [{ property, problem }] } },
  );
}

/** @param problems What is wrong, by parameter. */
export function invalidQuery(problems: readonly string[]): ProblemError {
  return new ProblemError({
    title: "The request's query is not valid.",
    status: 400,
    code: "invalid_query",
    detail: `${problems.join(" ")} GET /docs, beside this path, has what is possible.`,
  });
}

export function rangeTooWide(blocks: number, max: number): ProblemError {
  return new ProblemError({
    title: `${blocks} blocks are more than one request may look at.`,
    status: 422,
    code: "range_too_wide",
    detail: `Ask for at most ${max}: narrow from and to, or leave from out and go on from the answer's.`,
  });
}

export function unknownNetwork(networkId: number, served: readonly number[]): ProblemError {
  return new ProblemError(
    {
      title: `Network ${networkId} is not served here.`,
      status: 422,
      code: "unknown_network",
      detail: `This operator serves ${served.join(", ")}.`,
    },
    { extras: { served_network_ids: served } },
  );
}

export function unknownDataset(dataset: Address, networkId: number): ProblemError {
  return new ProblemError({
    title: `Dataset ${dataset} is not served on network ${networkId}.`,
    status: 404,
    code: "unknown_dataset",
    detail: "GET /datasets, beside this path, lists what is served.",
  });
}

export function invalidKey(form: KeyForm): ProblemError {
  return new ProblemError({
    title: "The key is not of the dataset's form.",
    status: 422,
    code: "invalid_key",
    detail: `This dataset's keys are ${KEY_FORM_WORDS[form]}.`,
  });
}

/** @param answers What the providers answered, if they were asked now. */
export function unknownKey(answers: readonly ProviderAnswer[] = []): ProblemError {
  const failures = failuresOf(answers);
  const details = [...new Set(failures.map(({ detail }) => detail))];
  const said = details.length === 0 ? "" : ` The providers: ${details.join("; ")}.`;
  return new ProblemError(
    {
      title: "The data providers do not serve this key.",
      status: 422,
      code: "unknown_key",
      detail:
        `Nothing was sent.${said} GET /datasets, beside this path, lists keys that are served; a Web Oracle key is ` +
        "served when its request spec is published. They are not asked for this one again within a minute.",
    },
    failures.length === 0 ? {} : { extras: { failures } },
  );
}

export function noSender(networkId: number): ProblemError {
  return new ProblemError({
    title: `This operator does not broadcast on network ${networkId}.`,
    status: 422,
    code: "broadcast_unavailable",
    detail: 'Send "broadcast": false, and pass the returned transaction to eth_sendTransaction from your own account.',
  });
}

/** @param answers One for each member of the committee. */
export function noQuorum(members: number, answers: readonly ProviderAnswer[]): ProblemError {
  const [values, noData] = [reportsOf("OK", answers).length, reportsOf("NOT_AVAILABLE", answers).length];
  const failures = failuresOf(answers);
  const said = `Of ${members} data providers, ${values} signed a value and ${noData} signed that there is none.`;
  const failed = failures.map(({ provider, host, detail }) => `${provider}${host ? ` (${host})` : ""}: ${detail}.`);
  return new ProblemError(
    {
      title: "Not more than two thirds of the data providers agree on an answer.",
      status: 503,
      code: "no_quorum",
      detail: [said, ...failed, "Nothing was sent. Try again in a few seconds."].join(" "),
    },
    { extras: { failures } },
  );
}

function failuresOf(answers: readonly ProviderAnswer[]) {
  return answers.flatMap((answer) => {
    if (answer.kind === "report") return [];
    const { provider, host, reason, detail } = answer;
    return [{ provider, host, reason, detail }];
  });
}

/** @param stored The newest round that is stored or on its way, in seconds since 1970. */
export function staleRound(stored: bigint): ProblemError {
  return new ProblemError(
    {
      title: "Newer rounds of this key keep being stored.",
      status: 503,
      code: "update_reverted",
      detail: `The round of ${stored} is stored or on its way. Query the key, or try again in a few seconds.`,
    },
    { extras: { error: "StaleRound" } },
  );
}

/** @param error The contract's named error and its values; null when the node gave none. */
export function updateReverted(error: string | null): ProblemError {
  return new ProblemError(
    {
      title: `The dataset refuses the update${error === null ? "" : `: ${error}`}.`,
      status: 503,
      code: "update_reverted",
      detail: "Nothing was changed. Try again in a few seconds.",
    },
    { extras: { error } },
  );
}

export function tooManyBroadcasts(perMinute: number, retryAfterSeconds: number): ProblemError {
  return new ProblemError(
    {
      title: "Too many broadcasts.",
      status: 429,
      code: "too_many_broadcasts",
      detail:
        `A caller may make ${perMinute} a minute. Try again in ${retryAfterSeconds} s, or send "broadcast": false and ` +
        "send the transaction yourself.",
    },
    { headers: { "retry-after": String(retryAfterSeconds) } },
  );
}

export function gasBudgetSpent(isNewKey: boolean, retryAfterSeconds: number): ProblemError {
  const whose = isNewKey ? "keys that are stored for the first time" : "this network";
  return new ProblemError(
    {
      title: `The gas that this operator spends an hour on ${whose} is used up.`,
      status: 429,
      code: "gas_budget_spent",
      detail: `Try again in ${retryAfterSeconds} s, or send "broadcast": false and send the transaction yourself.`,
    },
    { headers: { "retry-after": String(retryAfterSeconds) } },
  );
}

export function shuttingDown(): ProblemError {
  return new ProblemError(
    {
      title: "This operator is shutting down.",
      status: 503,
      code: "shutting_down",
      detail: "Try again in a few seconds. If an update was on its way, it still is.",
    },
    { headers: { "retry-after": "1" } },
  );
}

export function outOfFunds(networkId: number): ProblemError {
  return new ProblemError({
    title: `The operator's account on network ${networkId} cannot pay for the transaction.`,
    status: 503,
    code: "out_of_funds",
    detail: 'Send "broadcast": false and send the transaction yourself, or try again later.',
  });
}

/** @param wanted What the chain wants, in wei for each unit of gas, as `cap` is. */
export function feesTooHigh(networkId: number, wanted: bigint, cap: bigint): ProblemError {
  return new ProblemError({
    title: `Gas on network ${networkId} costs ${formatGwei(wanted)} gwei, more than the ${formatGwei(cap)} that this operator pays.`,
    status: 503,
    code: "fees_too_high",
    detail: 'Send "broadcast": false and send the transaction yourself, or try again later.',
  });
}

export function notReady(networkId: number): ProblemError {
  return new ProblemError({
    title: `Network ${networkId} cannot be read now.`,
    status: 503,
    code: "not_ready",
    detail: "Try again in a few seconds.",
  });
}
