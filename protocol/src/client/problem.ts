import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Problem } from "../wire.js";

/** How a data provider failed an operator. */
const ProviderFailure = Type.Object({
  provider: Type.String({ description: "The provider's address." }),
  host: Type.Union([Type.String(), Type.Null()], { description: "Of its endpoint; null without one." }),
  reason: Type.String({ description: "Stable, for programs." }),
  detail: Type.String({ description: 'Completes the sentence "The provider ...".' }),
});
export type ProviderFailure = Static<typeof ProviderFailure>;

/** The codes of an operator's problems, each with what its body has beyond title, status and detail. */
const EXTRAS = {
  invalid_body: { errors: Type.Array(Type.Object({ property: Type.String(), problem: Type.String() })) },
  invalid_query: {},
  bad_request: {},
  unknown_dataset: {},
  no_such_path: {},
  method_not_allowed: {},
  body_too_large: {},
  unsupported_media_type: {},
  unknown_network: { served_network_ids: Type.Array(Type.Integer()) },
  invalid_key: {},
  range_too_wide: {},
  unknown_key: { failures: Type.Optional(Type.Array(ProviderFailure)) },
  broadcast_unavailable: {},
  too_many_requests: {},
  too_many_broadcasts: {},
  gas_budget_spent: {},
  internal_error: {},
  rpc_failed: {},
  no_quorum: { failures: Type.Array(ProviderFailure) },
  update_reverted: { error: Type.Union([Type.String(), Type.Null()], { description: "The dataset's named error." }) },
  out_of_funds: {},
  fees_too_high: {},
  not_ready: {},
  shutting_down: {},
  rpc_timeout: {},
} as const satisfies Record<string, TProperties>;

/** The code of a problem that an operator answers. */
export type OperatorProblemCode = keyof typeof EXTRAS;
/** All of them. */
export const OPERATOR_PROBLEM_CODES = Object.keys(EXTRAS) as OperatorProblemCode[];

/** A problem that an operator answers: RFC 9457 problem details, told apart by `code`. */
export type OperatorProblem = {
  [Code in OperatorProblemCode]: Problem & { code: Code } & Static<
      ReturnType<typeof Type.Object<(typeof EXTRAS)[Code]>>
    >;
}[OperatorProblemCode];

/** A problem that the client meets before it has an operator's answer, or with the answer. */
export type ClientProblem = {
  /** What went wrong. */
  title: string;
  /** What to do about it. */
  detail: string;
} & (
  | { code: "unreachable" }
  | { code: "timeout" /** In milliseconds. */; timeoutMs: number }
  | { code: "unexpected_answer" /** Of HTTP. */; status: number }
  | {
      code: "unknown_problem" /** Of HTTP. */;
      status: number /** The code of an operator that is newer than this client. */;
      reported: string;
    }
);

/** Why a data request failed: what its `code` names. */
export type DataRequestProblem = OperatorProblem | ClientProblem;

/** A data request failed. Tell the cause by `problem.code`: each has its own members. */
export class DataRequestError extends Error {
  override readonly name = "DataRequestError";

  /** @param retryAfterSeconds When to try again; null if the operator does not say. */
  constructor(
    readonly problem: DataRequestProblem,
    readonly retryAfterSeconds: number | null = null,
    options?: ErrorOptions,
  ) {
    super(`${problem.title} ${problem.detail}`, options);
  }
}

/** @param detail Completes the sentence "The answer ...". */
export function unexpectedAnswer(status: number, detail: string): DataRequestError {
  return new DataRequestError({
    title: "This is not the answer of an operator.",
    code: "unexpected_answer",
    status,
    detail: `The answer ${detail}. Check the URL: it is the operator's base URL, without "/data/request".`,
  });
}

/**
 * Reads the body of a problem.
 *
 * @param status Of HTTP.
 */
export function parseProblem(body: unknown, status: number): DataRequestProblem | null {
  if (!Value.Check(Problem, body)) return null;
  const { title, detail, code } = body;
  if (!isOperatorCode(code)) return { code: "unknown_problem", title, detail, status, reported: code };
  return Value.Check(Type.Object(EXTRAS[code] as TProperties), body) ? (body as OperatorProblem) : null;
}

const isOperatorCode = (code: string): code is OperatorProblemCode => Object.hasOwn(EXTRAS, code);
