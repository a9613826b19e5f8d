import type { Problem } from "@dataset-oracle/protocol/http-schemas/problem";
import {
  OPERATOR_PROBLEMS,
  type OperatorProblemCode,
  type ProblemValues,
  writeProblem,
} from "@dataset-oracle/protocol/operator-problem";

/** The content of a problem: `title` is the fact, `detail` the fix. `extras` are further members of the answer. */
interface Content extends Pick<Problem, "title" | "detail"> {
  readonly extras?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** What only the service's owner may know: fields of the log line about the failure. */
  readonly logFields?: Readonly<Record<string, unknown>>;
}

/** An expected failure of a request, with the content of its problem+json answer. */
export class ProblemError extends Error {
  readonly title: string;
  readonly detail: string;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly logFields: Readonly<Record<string, unknown>>;

  /** @param code A stable code, for programs. */
  constructor(
    readonly status: number,
    readonly code: string,
    { title, detail, extras = {}, headers = {}, logFields = {} }: Content,
  ) {
    super(`${title} ${detail}`);
    this.name = "ProblemError";
    this.title = title;
    this.detail = detail;
    this.extras = extras;
    this.headers = headers;
    this.logFields = logFields;
  }

  /** Returns the answer's body. */
  toJSON(): Problem & Record<string, unknown> {
    return { title: this.title, status: this.status, code: this.code, detail: this.detail, ...this.extras };
  }
}

/**
 * Makes a problem from its declaration.
 *
 * @param more What it has besides its declared text, or in place of a part of it.
 */
export function problem<Code extends OperatorProblemCode>(
  code: Code,
  values: ProblemValues<Code>,
  more: Partial<Content> = {},
): ProblemError {
  const [status] = OPERATOR_PROBLEMS[code].status;
  return new ProblemError(status, code, { ...writeProblem(code, values), ...more });
}
