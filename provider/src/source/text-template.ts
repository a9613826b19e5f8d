import { err, ok, type Result } from "@dataset-oracle/protocol/result";

/** The values of a source's variables, by name. */
export type TemplateValues = Readonly<Record<string, string>>;

/** A text with variables. */
export interface TextTemplate {
  readonly variables: ReadonlySet<string>;
  /** @param encode Writes a value so that it cannot be read as anything but a value in its place. */
  fill(values: TemplateValues, encode: (value: string) => string): string;
}

/** Matches a name in braces; braces around anything else are text. */
const VARIABLE = /\{([A-Za-z][A-Za-z0-9_]*)\}/g;

/** Finds the variables, `{name}`, in a text; fails when one of them is not declared. */
export function compileText(text: string, variables: readonly string[]): Result<TextTemplate> {
  const names = new Set([...text.matchAll(VARIABLE)].map(([, name = ""]) => name));
  for (const name of names) {
    if (!variables.includes(name)) {
      return err(`{${name}} is not a variable. The variables are: ${variables.join(", ") || "none"}.`);
    }
  }
  return ok({
    variables: names,
    fill: (values, encode) => text.replace(VARIABLE, (_, name: string) => encode(values[name] ?? "")),
  });
}

/** Replaces every variable with the same text. */
export const withoutVariables = (text: string, substitute: string) => text.replace(VARIABLE, substitute);

/** Returns why a value cannot be used in any template, or null. */
export function problemOfTemplateValue(value: string): string | null {
  if (/\p{Cc}/u.test(value)) return "contains a control character";
  if (/\p{Cs}/u.test(value)) return "contains half of a surrogate pair";
  return value === "." || value === ".." ? 'must not be "." or ".."' : null;
}
