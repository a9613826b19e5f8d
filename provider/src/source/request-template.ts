import { percentEncode } from "@dataset-oracle/protocol/percent-encode";
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
    fill: (values, encode) => {
      const encoded = new Map([...names].map((name) => [name, encode(values[name] ?? "")]));
      return names.size === 0 ? text : text.replace(VARIABLE, (_, name: string) => encoded.get(name) ?? "");
    },
  });
}

/** Returns why a value cannot be used in any template, or null. */
export function problemOfTemplateValue(value: string): string | null {
  if (/\p{Cc}/u.test(value)) return "contains a control character";
  if (/\p{Cs}/u.test(value)) return "contains half of a surrogate pair";
  return value === "." || value === ".." ? 'must not be "." or ".."' : null;
}

/** Matches everything before the path: https, a host name, the standard port, no user, and no variable. */
const ORIGIN = /^(https:\/\/(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*)\//;

/** A checked template of a URL or of a body. */
export interface Template {
  readonly variables: ReadonlySet<string>;
  /** Replaces each variable with its encoded value; fails when the result would mean something else. */
  fill(values: TemplateValues): Result<string>;
}

export interface UrlTemplate extends Template {
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
  const rest = text.replace(VARIABLE, "x");
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

/** The bodies of all keys of a row are in memory at the same time. */
const MAX_BODY = 4_096;

/** Checks a body template: JSON with variables inside its strings. */
export function compileBody(text: string, variables: readonly string[]): Result<Template> {
  const template = compileText(text, variables);
  if (!template.ok) return err(`body: ${template.error} If the braces are plain text, put a space inside them.`);
  try {
    // No keyword of JSON contains a Q, so a variable outside of a string makes the text invalid.
    JSON.parse(text.replace(VARIABLE, "Q"));
  } catch (error) {
    return err(`body: it must be JSON with variables only inside strings: ${(error as Error).message}.`);
  }
  return ok({
    variables: template.value.variables,
    fill: (values) => {
      const body = template.value.fill(values, (value) => JSON.stringify(value).slice(1, -1));
      if (body.length <= MAX_BODY) return ok(body);
      return err(`The body has ${body.length} characters, above the limit of ${MAX_BODY}. Use shorter values.`);
    },
  });
}
