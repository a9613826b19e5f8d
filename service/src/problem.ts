import type { Problem } from "@dataset-oracle/protocol/wire";

/** An expected failure of a request, with the content of its problem+json answer. */
export class ProblemError extends Error {
  readonly title: string;
  readonly detail: string;
  readonly status: number;
  readonly code: string;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param problem `title` is the fact, `detail` the fix; `code` is stable, for programs.
   * @param more `extras` adds members to the answer's body, `headers` adds headers.
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

  /** Returns the answer's body. */
  toJSON(): Problem & Record<string, unknown> {
    return { title: this.title, status: this.status, code: this.code, detail: this.detail, ...this.extras };
  }
}
