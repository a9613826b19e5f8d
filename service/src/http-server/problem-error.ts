import type { Problem } from "@dataset-oracle/protocol/http-schemas/problem";

/** The content of a problem: `title` is the fact, `detail` the fix. `extras` are further members of the answer. */
export interface ProblemContent extends Pick<Problem, "title" | "detail"> {
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
    { title, detail, extras = {}, headers = {}, logFields = {} }: ProblemContent,
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

/** A problem as a service declares it. `{name}` in a text is replaced by a value. */
export interface DeclaredProblem extends Pick<Problem, "title" | "detail"> {
  /** The statuses with which it is answered, the usual one first. */
  readonly status: readonly [number, ...number[]];
}

type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** The values that the text of a problem needs, by the names of their placeholders. */
export type ValuesOf<Declared extends DeclaredProblem> = Readonly<
  Record<NamesIn<Declared["title"] | Declared["detail"]>, string | number | bigint>
>;

/**
 * Makes a problem from its declaration.
 *
 * @param more What it has besides its declared text, or in place of a part of it.
 */
export type MakeProblem<Table extends Readonly<Record<keyof Table, DeclaredProblem>>> = <
  Code extends keyof Table & string,
>(
  code: Code,
  values: ValuesOf<Table[Code]>,
  more?: Partial<ProblemContent>,
) => ProblemError;

/** Returns the function that makes the problems of a table, by their codes. */
export function problemMaker<Table extends Readonly<Record<keyof Table, DeclaredProblem>>>(
  table: Table,
): MakeProblem<Table> {
  return (code, values, more) => {
    const fill = (text: string) =>
      text.replace(/\{(\w+)\}/g, (_, name: string) => String((values as Record<string, unknown>)[name]));
    const { status, title, detail } = table[code];
    return new ProblemError(status[0], code, { title: fill(title), detail: fill(detail), ...more });
  };
}
