import { type TProperties, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Hash } from "viem";
import { Problem } from "../http-schemas/problem.js";
import { OPERATOR_PROBLEMS, type OperatorProblem, type OperatorProblemCode } from "../operator-problem.js";

/** A problem that the client itself detects: there is no answer, or it cannot be used. */
export type ClientProblem = {
  /** The fact. */
  title: string;
  /** The advice. */
  detail: string;
} & (
  | { code: "unreachable" }
  | {
      code: "timeout";
      /** In milliseconds. */
      timeoutMs: number;
    }
  | {
      code: "unexpected_answer";
      /** The HTTP status. */
      status: number;
    }
  | {
      code: "unknown_problem";
      /** The HTTP status. */
      status: number;
      /** The code, from an operator that is newer than this client. */
      reported: string;
    }
);

/** The reason why a data request failed, discriminated by `code`. */
export type DataRequestProblem = OperatorProblem | ClientProblem;

/** A data request failed. `problem.code` is the reason; each code has its own members. */
export class DataRequestError extends Error {
  override readonly name = "DataRequestError";
  /** The errors of the operators that were asked before, in their order. */
  earlier: readonly DataRequestError[] = [];
  /**
   * The operator's transaction, if its hash was known before the request failed; else null. It can still be mined: wait for
   * it before you ask again.
   */
  transactionHash: Hash | null = null;

  /** @param retryAfterSeconds The time after which to retry; null if the operator did not say. */
  constructor(
    readonly problem: DataRequestProblem,
    readonly retryAfterSeconds: number | null = null,
    options?: ErrorOptions,
  ) {
    super(`${problem.title} ${problem.detail}`, options);
  }
}

/** Returns the error for an unusable answer. @param detail Completes the sentence "The answer ...". */
export function unexpectedAnswer(status: number, detail: string): DataRequestError {
  return new DataRequestError({
    title: "This is not a valid answer from an operator.",
    code: "unexpected_answer",
    status,
    detail:
      `The answer ${detail}. Check that the URL is the operator's base URL, without "/data/request"; if it is, try ` +
      "again, or ask another operator.",
  });
}

/**
 * Parses the body of a problem.
 *
 * @param status The HTTP status.
 * @returns Null if the body is not a valid problem.
 */
export function parseProblem(body: unknown, status: number): DataRequestProblem | null {
  if (!Value.Check(Problem, body)) return null;
  const { title, detail, code } = body;
  if (!isOperatorCode(code)) return { code: "unknown_problem", title, detail, status, reported: code };
  return Value.Check(Type.Object(OPERATOR_PROBLEMS[code].members as TProperties), body)
    ? (body as OperatorProblem)
    : null;
}

const isOperatorCode = (code: string): code is OperatorProblemCode => Object.hasOwn(OPERATOR_PROBLEMS, code);
