import { err, ok, type Result } from "@dataset-oracle/protocol/result";

/** The values of a source's variables, by name. */
export type Values = Readonly<Record<string, string>>;

/** Text with variables in it. */
export interface TextTemplate {
  readonly variables: ReadonlySet<string>;
  /** @param encode Makes text of a value that can be nothing else than a value in its place. */
  fill(values: Values, encode: (value: string) => string): string;
}

/** A name in braces; braces around anything else are text. */
const VARIABLE = /\{([A-Za-z][A-Za-z0-9_]*)\}/g;

/** Text that is one of the variables, `{name}`, in each place where such a name stands in braces. */
export function compileText(text: string, variables: readonly string[]): Result<TextTemplate> {
  const names = new Set([...text.matchAll(VARIABLE)].map(([, name = ""]) => name));
  for (const name of names) {
    if (!variables.includes(name)) {
      return err(`{${name}} is not a variable. There are: ${variables.join(", ") || "none"}.`);
    }
  }
  return ok({
    variables: names,
    fill: (values, encode) => text.replace(VARIABLE, (_, name: string) => encode(values[name] ?? "")),
  });
}

/** What is left of a text without its variables. */
export const withoutVariables = (text: string, substitute: string) => text.replace(VARIABLE, substitute);

/** Why a value can't be used anywhere, or null: control characters, half characters, and what means a folder. */
export function valueProblem(value: string): string | null {
  if (/\p{Cc}/u.test(value)) return "has a control character";
  if (/\p{Cs}/u.test(value)) return "has half of a character";
  return value === "." || value === ".." ? "means a folder" : null;
}
