import { percentEncode } from "@dataset-oracle/protocol/percent-encode";
import { err, ok, type Result } from "@dataset-oracle/protocol/result";
import { compileText, type TemplateValues, withoutVariables } from "./text-template.js";

/** Matches everything before the path: https, a host name, the standard port, no user, and no variable. */
const ORIGIN = /^(https:\/\/(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*)\//;

/** A checked template of a URL or of a body. */
interface Template {
  readonly variables: ReadonlySet<string>;
  /** Replaces each variable with its encoded value; fails when the result would mean something else. */
  fill(values: TemplateValues): Result<string>;
}

interface UrlTemplate extends Template {
  /** For example `https://api.kraken.com`. */
  readonly origin: string;
}

/** Checks a URL template. Variables such as `{base}` stand in its path or query; their values are percent-encoded. */
export function compileUrl(text: string, variables: readonly string[]): Result<UrlTemplate> {
  const origin = ORIGIN.exec(text)?.[1];
  if (origin === undefined) {
    return err(
      `${text}: a URL must start with "https://", a lower-case host name (no IP address, port or user), and "/".`,
    );
  }
  const template = compileText(text, variables);
  if (!template.ok) return err(`${text}: ${template.error}`);
  const rest = withoutVariables(text, "x");
  if (/[{}\s#]/.test(rest))
    return err(`${text}: a URL may have braces only around variables, and no spaces or "#". Percent-encode them.`);
  if (!isNormal(rest))
    return err(
      `${text}: a URL must be written as it is sent. With x in place of each variable, that would be ${normal(rest)}.`,
    );
  return ok({
    origin,
    variables: template.value.variables,
    fill: (values) => {
      const url = template.value.fill(values, percentEncode);
      // Two empty values, for example, may leave a "." alone between two slashes.
      return isNormal(url) ? ok(url) : err(`${url} would be sent as another URL, ${normal(url)}. Use other values.`);
    },
  });
}

const normal = (url: string) => (URL.canParse(url) ? new URL(url).href : "none");

const isNormal = (url: string) => normal(url) === url;

/** Checks a body template: JSON with variables inside its strings. */
export function compileBody(text: string, variables: readonly string[]): Result<Template> {
  const template = compileText(text, variables);
  if (!template.ok) return err(`body: ${template.error} If the braces are plain text, put a space inside them.`);
  try {
    // No keyword of JSON contains a Q, so a variable outside of a string makes the text invalid.
    JSON.parse(withoutVariables(text, "Q"));
  } catch (error) {
    return err(`body: it must be JSON with variables only inside strings: ${(error as Error).message}.`);
  }
  return ok({
    variables: template.value.variables,
    fill: (values) => ok(template.value.fill(values, (value) => JSON.stringify(value).slice(1, -1))),
  });
}
