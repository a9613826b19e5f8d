import type { Problem } from "@dataset-oracle/protocol/wire";

/** The parts of a problem: the members of its answer, further members (`extras`), and the answer's headers. */
interface Parts extends Problem {
  readonly extras?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An expected failure of a request, with the content of its problem+json answer. */
export class ProblemError extends Error {
  readonly title: string;
  readonly detail: string;
  readonly status: number;
  readonly code: string;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  /** @param parts `title` is the fact, `detail` the fix; `code` is stable, for programs. */
  constructor({ title, detail, status, code, extras = {}, headers = {} }: Parts) {
    super(`${title} ${detail}`);
    this.name = "ProblemError";
    this.title = title;
    this.detail = detail;
    this.status = status;
    this.code = code;
    this.extras = extras;
    this.headers = headers;
  }

  /** Returns the answer's body. */
  toJSON(): Problem & Record<string, unknown> {
    return { title: this.title, status: this.status, code: this.code, detail: this.detail, ...this.extras };
  }
}
