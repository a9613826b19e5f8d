import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { compileText, type Values, withoutVariables } from "./text-template.js";

/** Everything up to the path: https, a host name, the standard port, no user. A variable can not stand in it. */
const ORIGIN = /^(https:\/\/(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*)\//;

/** A checked template of a url or of a body. */
export interface Template {
  readonly variables: ReadonlySet<string>;
  /** The text with each variable's value, encoded, in its place; refused when it would mean something else. */
  fill(values: Values): Result<string>;
}

export interface UrlTemplate extends Template {
  /** For example `https://api.kraken.com`. */
  readonly origin: string;
}

/** Checks a url template: variables such as `{base}` stand in its path or query, and their values percent-encoded. */
export function compileUrl(text: string, variables: readonly string[]): Result<UrlTemplate> {
  const origin = ORIGIN.exec(text)?.[1];
  if (origin === undefined) {
    return err(`${text}: a url begins with "https://", a host name in small letters, and "/".`);
  }
  const template = compileText(text, variables);
  if (!template.ok) return err(`${text}: ${template.error}`);
  const rest = withoutVariables(text, "x");
  if (/[{}\s#]/.test(rest)) return err(`${text}: a brace, a space or a "#" stands alone.`);
  if (!isNormal(rest)) return err(`${text}: not as a url is sent. Without variables it would be ${normal(rest)}.`);
  return ok({
    origin,
    variables: template.value.variables,
    fill: (values) => {
      const url = template.value.fill(values, percentEncode);
      // For example, two empty values may leave a "." alone between two slashes.
      return isNormal(url) ? ok(url) : err(`${url} is not as a url is sent.`);
    },
  });
}

const normal = (url: string) => (URL.canParse(url) ? new URL(url).href : "none");

const isNormal = (url: string) => normal(url) === url;

/** Everything but what RFC 3986 never gives a meaning. */
const percentEncode = (value: string) =>
  encodeURIComponent(value).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** Checks a body template: JSON, whose strings have variables in them. */
export function compileBody(text: string, variables: readonly string[]): Result<Template> {
  const template = compileText(text, variables);
  if (!template.ok) return err(`body: ${template.error} In other text, put a space inside the braces.`);
  try {
    // A letter that no word of JSON has: outside of a string it is no JSON.
    JSON.parse(withoutVariables(text, "Q"));
  } catch (error) {
    return err(`body: it must be JSON, with variables only inside its strings: ${(error as Error).message}.`);
  }
  return ok({
    variables: template.value.variables,
    fill: (values) => ok(template.value.fill(values, (value) => JSON.stringify(value).slice(1, -1))),
  });
}
