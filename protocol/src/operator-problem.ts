/** Every problem that an operator answers, declared once: its schema, its text and where it occurs derive from here. */

import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { HTTP_PROBLEMS } from "./http-problems.js";
import { oneOf, orNull } from "./http-schemas/fields.js";
import type { Problem } from "./http-schemas/problem.js";

/** The reasons why a provider's answer is not used. Stable, because programs read them. */
const FAILURE_REASONS = [
  "no_endpoint",
  "unreachable",
  "certificate",
  "timeout",
  "late",
  "not_asked",
  "redirected",
  "too_large",
  "not_text",
  "refused",
  "source_busy",
  "source_unreachable",
  "invalid_report",
  "other_report",
  "value_too_large",
  "wrong_signer",
  "contradicted",
  "unexpected",
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** A data provider's failure to answer an operator. */
export const ProviderFailure = Type.Object({
  provider: Type.String({ description: "The provider's address." }),
  host: orNull(Type.String(), "The host of its endpoint; null if the operator has none."),
  reason: oneOf(
    FAILURE_REASONS,
    "Stable, for programs. certificate: its TLS certificate is refused. late: it had not answered when the time for " +
      "the remaining providers ended. not_asked: the operator had too many requests to it in flight. source_busy: its " +
      "sources allow no further requests now. source_unreachable: it cannot reach them. contradicted: it has signed " +
      "two conflicting statements about one key and round.",
  ),
  detail: Type.String({ description: 'Completes the sentence "The provider ...".' }),
});
export type ProviderFailure = Static<typeof ProviderFailure>;

/** The operator's routes, by their names in the OpenAPI document. */
export type OperatorRoute =
  | "requestUpdate"
  | "listDatasets"
  | "fetchUpdate"
  | "fetchUpdateByPath"
  | "readOverview"
  | "readDataPoint"
  | "readHistory"
  | "isLive"
  | "isReady";

const GATEWAY = ["fetchUpdate", "fetchUpdateByPath"] as const;
const ABOUT_A_KEY = ["requestUpdate", "readDataPoint", "readHistory", ...GATEWAY] as const;
const READS_THE_CHAIN = [...ABOUT_A_KEY, "listDatasets", "readOverview"] as const;
const ANY = [...READS_THE_CHAIN, "isLive", "isReady"] as const;
const UPDATES = ["requestUpdate", ...GATEWAY] as const;
const WITH_BODY = ["requestUpdate", "fetchUpdate"] as const;

interface Declaration {
  /** The HTTP statuses with which it is answered; mostly one. */
  readonly status: readonly [number, ...number[]];
  /** What is wrong, in one sentence. `{name}` is replaced by a value. */
  readonly title: string;
  /** What to do, in sentences. */
  readonly detail: string;
  readonly routes: readonly OperatorRoute[];
  /** The members of its body besides those of every problem. */
  readonly members: TProperties;
}

const Errors = { errors: Type.Array(Type.Object({ property: Type.String(), problem: Type.String() })) };

/**
 * The problems by their codes. A text with a placeholder is one literal, so that its placeholders are checked. Those of
 * the first group are the HTTP server's, so a provider answers them too. Where a fault can be named more closely, for
 * example by the property that has it, the server says so in place of the detail or the title.
 */
export const OPERATOR_PROBLEMS = {
  bad_request: {
    ...HTTP_PROBLEMS.bad_request,
    detail: "Send a complete HTTP/1.1 request whose headers fit. The gateway takes only the lookups of a lens.",
    routes: ANY,
    members: {},
  },
  invalid_body: { ...HTTP_PROBLEMS.invalid_body, routes: WITH_BODY, members: Errors },
  invalid_query: {
    ...HTTP_PROBLEMS.invalid_query,
    detail: "Correct each parameter that `errors` names. GET /openapi.json describes the parameters.",
    routes: ["readDataPoint", "readHistory"],
    members: Errors,
  },
  invalid_path: { ...HTTP_PROBLEMS.invalid_path, routes: ["fetchUpdate", "fetchUpdateByPath"], members: Errors },
  no_such_path: { ...HTTP_PROBLEMS.no_such_path, routes: [], members: {} },
  method_not_allowed: { ...HTTP_PROBLEMS.method_not_allowed, routes: [], members: {} },
  body_too_large: { ...HTTP_PROBLEMS.body_too_large, routes: WITH_BODY, members: {} },
  unsupported_media_type: { ...HTTP_PROBLEMS.unsupported_media_type, routes: WITH_BODY, members: {} },
  internal_error: { ...HTTP_PROBLEMS.internal_error, routes: ANY, members: {} },

  unknown_dataset: {
    status: [404],
    title: "Dataset {dataset} is not served on network {network}.",
    detail: "GET /datasets, under the operator's base URL, lists what is served.",
    routes: ABOUT_A_KEY,
    members: {},
  },
  unknown_network: {
    status: [422],
    title: "Network {network} is not served here.",
    detail: "Use one of the networks that this operator serves: {served}.",
    routes: ABOUT_A_KEY,
    members: { served_network_ids: Type.Array(Type.Integer()) },
  },
  invalid_key: {
    status: [422],
    title: "The key does not have the form of this dataset's keys.",
    detail: "This dataset's keys have the form {form}.",
    routes: ABOUT_A_KEY,
    members: {},
  },
  unknown_key: {
    status: [422],
    title: "The data providers do not serve this key.",
    detail: "Nothing was sent. {explanation} The providers can be asked for this key again after a minute.",
    routes: UPDATES,
    members: { failures: Type.Optional(Type.Array(ProviderFailure)) },
  },
  broadcast_unavailable: {
    status: [422],
    title: "This operator does not broadcast on network {network}.",
    detail: 'Send "broadcast": false, and send the returned transaction from your own account.',
    routes: ["requestUpdate"],
    members: {},
  },
  range_too_wide: {
    status: [422],
    title: "{blocks} blocks are more than one request may cover.",
    detail:
      "Ask for at most {max} blocks: narrow the range, or omit `from` and, for older updates, set `to` to the block before the answer's `from`.",
    routes: ["readHistory"],
    members: {},
  },
  too_many_requests: { ...HTTP_PROBLEMS.too_many_requests, routes: ANY, members: {} },
  too_many_broadcasts: {
    status: [429],
    title: "Too many broadcasts.",
    detail:
      'The limit is {max} broadcasts per minute. Try again in {seconds} s, or send "broadcast": false and send the transaction yourself.',
    routes: ["requestUpdate"],
    members: {},
  },
  gas_budget_spent: {
    status: [429],
    title: "{whose} hourly gas budget for {what} is spent.",
    detail: 'Try again in {seconds} s, or send "broadcast": false and send the transaction yourself.',
    routes: ["requestUpdate"],
    members: {},
  },
  rpc_failed: {
    status: [502],
    title: "The RPC of network {network} failed.",
    detail:
      "Try again in a few seconds. If it keeps failing, tell the operator's owner: the log names the RPC endpoint " +
      "and the reason.",
    routes: READS_THE_CHAIN,
    members: {},
  },
  no_quorum: {
    status: [503],
    title: "No quorum: more than two thirds of the data providers have to sign.",
    detail: "Of {members} data providers, {signed}. {failed}Nothing was sent.{advice}",
    routes: UPDATES,
    members: { failures: Type.Array(ProviderFailure) },
  },
  update_reverted: {
    status: [503],
    title: "{fact}.",
    detail: "{fix}",
    routes: UPDATES,
    members: { error: orNull(Type.String(), "The dataset's named error.") },
  },
  out_of_funds: {
    status: [503],
    title: "The operator's account on network {network} cannot pay for the transaction.",
    detail: 'Send "broadcast": false and send the transaction yourself, or try again later.',
    routes: ["requestUpdate"],
    members: {},
  },
  fees_too_high: {
    status: [503],
    title: "Network {network} asks for {wanted} gwei per gas, and this operator offers at most {cap} gwei.",
    detail:
      'Send "broadcast": false and send the transaction yourself, or try again later. The cap is the operator\'s setting {setting}.',
    routes: ["requestUpdate"],
    members: {},
  },
  queue_full: {
    status: [503],
    title: "Too many transactions of this operator wait to be mined on network {network}.",
    detail:
      'Nothing was sent. Send "broadcast": false and send the transaction yourself, or try again in a few seconds.',
    routes: ["requestUpdate"],
    members: {},
  },
  signer_failed: {
    status: [503],
    title: "The signer that holds the operator's key did not sign the transaction on network {network}.",
    detail:
      'Nothing was sent. Send "broadcast": false and send the transaction yourself, or try again in a few seconds.',
    routes: ["requestUpdate"],
    members: {},
  },
  not_ready: {
    status: [503],
    title: "Network {network} cannot be read at the moment.",
    detail: "Try again in a few seconds.",
    routes: [...ABOUT_A_KEY, "listDatasets"],
    members: {},
  },
  shutting_down: {
    status: [503],
    title: "This operator is shutting down.",
    detail: "Try again in a few seconds. A pending update stays pending.",
    routes: READS_THE_CHAIN,
    members: {},
  },
  rpc_timeout: {
    status: [504],
    title: "The RPC of network {network} did not answer in time.",
    detail:
      "Try again in a few seconds. If it keeps failing, tell the operator's owner: the log names the RPC endpoint " +
      "and the reason.",
    routes: READS_THE_CHAIN,
    members: {},
  },
} as const satisfies Record<string, Declaration>;

type Problems = typeof OPERATOR_PROBLEMS;

/** The code of an operator's problem. */
export type OperatorProblemCode = keyof Problems;
/** All codes of an operator's problems. */
export const OPERATOR_PROBLEM_CODES = Object.keys(OPERATOR_PROBLEMS) as OperatorProblemCode[];

/** Lists the codes of the problems that a route can answer, by status. */
export function operatorProblemCodesOf(route: OperatorRoute): Readonly<Record<number, readonly OperatorProblemCode[]>> {
  const codes: Record<number, OperatorProblemCode[]> = {};
  for (const code of OPERATOR_PROBLEM_CODES) {
    const { routes, status } = OPERATOR_PROBLEMS[code];
    if (!(routes as readonly OperatorRoute[]).includes(route)) continue;
    for (const each of status) codes[each] = [...(codes[each] ?? []), code];
  }
  return codes;
}

/** An operator's problem: RFC 9457 problem details, discriminated by `code`. */
export type OperatorProblem = {
  [Code in OperatorProblemCode]: Problem & { code: Code } & Static<
      ReturnType<typeof Type.Object<Problems[Code]["members"]>>
    >;
}[OperatorProblemCode];
