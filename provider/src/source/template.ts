import { type Parsed, parsed, refused } from "@dataset-oracle/protocol/parsed";

const VARIABLE = /\{([^{}]*)\}/g;

/** Everything up to the path: https, a host name, the standard port, no user. A variable can not stand in it. */
const ORIGIN = /^(https:\/\/(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*)\//;

/** A checked url template. */
export interface UrlTemplate {
  /** For example `https://api.kraken.com`. */
  readonly origin: string;
  /** The url with each variable's value, percent-encoded, in its place. */
  fill(values: Readonly<Record<string, string>>): string;
}

/** Checks a url template with variables such as `{base}` in its path or query. */
export function compileTemplate(text: string, variables: readonly string[]): Parsed<UrlTemplate> {
  const origin = ORIGIN.exec(text)?.[1];
  if (origin === undefined) {
    return refused(`${text}: a url begins with "https://", a host name in small letters, and "/".`);
  }
  const names = [...text.matchAll(VARIABLE)].map(([, name = ""]) => name);
  const unknown = names.find((name) => !variables.includes(name));
  if (unknown !== undefined)
    return refused(`${text}: {${unknown}} is not a variable. There are: ${variables.join(", ")}.`);
  const missing = variables.find((name) => !names.includes(name));
  if (missing !== undefined)
    return refused(`${text}: {${missing}} is missing, so two pairs could get the same answer.`);
  if (/[{}\s#]/.test(text.replace(VARIABLE, ""))) return refused(`${text}: a brace, a space or a "#" stands alone.`);
  return parsed({
    origin,
    fill: (values) => text.replace(VARIABLE, (_, name: string) => encodeURIComponent(values[name] ?? "")),
  });
}
