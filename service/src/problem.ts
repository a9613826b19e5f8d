import type { Problem } from "@dataset-oracle/protocol/wire";

/** An expected failure of a request: what its problem+json answer says. */
export class ProblemError extends Error {
  readonly title: string;
  readonly detail: string;
  readonly status: number;
  readonly code: string;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param problem `title` says what went wrong, `detail` what to do about it; `code` is stable, for programs.
   * @param more `extras` are further members of the answer's body, `headers` further headers.
   */
  constructor(problem: Problem, more: { extras?: Record<string, unknown>; headers?: Record<string, string> } = {}) {
    super(`${problem.title} ${problem.detail}`);
    this.name = "ProblemError";
    this.title = problem.title;
    this.detail = problem.detail;
    this.status = problem.status;
    this.code = problem.code;
    this.extras = more.extras ?? {};
    this.headers = more.headers ?? {};
  }

  /** The answer's body. */
  toJSON(): Problem & Record<string, unknown> {
    return { title: this.title, status: this.status, code: this.code, detail: this.detail, ...this.extras };
  }
}
