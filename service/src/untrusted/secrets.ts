import { type Static, Type } from "@sinclair/typebox";
import { ConfigError } from "../config/config-error.js";
import { requireNoQuote } from "../config/require-no-quote.js";
import { readSecretFile } from "../config/secret-file.js";
import type { FetchRequest } from "./fetch-text.js";
import { parseHttpsUrl } from "./https-url.js";

const strict = { additionalProperties: false } as const;

/** The settings of a credential for a paid API. Its value is never in the configuration. */
export const SecretSettings = Type.Object(
  {
    host: Type.String({ description: "The only host that receives the secret, for example api.example.com." }),
    header: Type.Optional(
      Type.String({ pattern: "^[a-z][a-z0-9-]*$", description: "The header that holds the secret." }),
    ),
    query: Type.Optional(
      Type.String({ pattern: "^[A-Za-z0-9._~-]+$", description: "The query parameter that holds the secret." }),
    ),
    file: Type.Optional(Type.String({ minLength: 1, description: "The path of a file with the secret." })),
    env: Type.Optional(Type.String({ minLength: 1, description: "The environment variable with the secret." })),
  },
  strict,
);
export type SecretSettings = Static<typeof SecretSettings>;

/** Shorter values could occur in answers by chance, and removing them would damage the text. */
const MIN_LENGTH = 8;

interface Secret {
  readonly host: string;
  readonly parameter: { readonly header: string } | { readonly query: string };
  readonly value: string;
}

/** The credentials for paid APIs. Each is sent to its own host only, and removed from all text that comes back. */
export class Secrets {
  readonly #secrets: readonly Secret[];
  readonly #removals: readonly RegExp[];

  private constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets;
    // The longest first, because a secret may be a part of another.
    const patterns = [...new Set(secrets.flatMap(({ value }) => patternsOf(value)))];
    this.#removals = patterns.toSorted((a, b) => b.length - a.length).map((pattern) => new RegExp(pattern, "g"));
  }

  static readonly NONE = new Secrets([]);

  /**
   * Reads the values from files and the environment.
   *
   * @throws ConfigError that names the setting without its value.
   */
  static load(settings: readonly SecretSettings[], env: NodeJS.ProcessEnv): Secrets {
    return new Secrets(settings.map((one, index) => loadSecret(one, `secrets/${index}`, env)));
  }

  /** Returns the request with its host's secrets. */
  addTo(request: FetchRequest): FetchRequest {
    const { host } = new URL(request.url);
    let { url } = request;
    const headers = { ...request.headers };
    for (const { host: owner, parameter, value } of this.#secrets) {
      if (owner !== host) continue;
      if ("header" in parameter) headers[parameter.header] = value;
      else url += `${url.includes("?") ? "&" : "?"}${parameter.query}=${encodeURIComponent(value)}`;
    }
    return { ...request, url, headers };
  }

  /**
   * Removes the secrets from text from outside, in whatever form: an API may repeat what it received, and answers
   * become public. JSON that was cleaned has no secret in its parsed values either.
   */
  removeFrom(text: string): string {
    return this.#removals.reduce((rest, pattern) => rest.replace(pattern, "<secret>"), text);
  }
}

function loadSecret(
  { host, header, query, file, env: name }: SecretSettings,
  at: string,
  env: NodeJS.ProcessEnv,
): Secret {
  const url = parseHttpsUrl(`https://${host}`);
  if (!url.ok || url.value.host !== host) {
    throw new ConfigError(`${at}: the host is not a public host name. Write it in lower-case letters, without a port.`);
  }
  if ((header === undefined) === (query === undefined))
    throw new ConfigError(`${at}: set exactly one of header and query.`);
  if ((file === undefined) === (name === undefined)) throw new ConfigError(`${at}: set exactly one of file and env.`);
  const value = (
    file === undefined ? (env[name ?? ""] ?? "") : readSecretFile(file, `${at}/file`, `${at}: the file`)
  ).trim();
  // The setting is repeated only if it looks like a variable's name, because it may be the secret itself by mistake.
  const variable = /^[A-Z_]+$/.test(name ?? "") ? `the variable ${name}` : "the variable that env names";
  const where = file === undefined ? variable : "the file";
  if (file === undefined) requireNoQuote(value, `${at}: ${variable}`);
  if (value.length < MIN_LENGTH || !/^[\x20-\x7e]+$/.test(value)) {
    throw new ConfigError(`${at}: ${where} must hold one line of ${MIN_LENGTH} or more printable ASCII characters.`);
  }
  return { host, parameter: header === undefined ? { query: query ?? "" } : { header }, value };
}

/** Lists patterns of a value, whole and in parts ("Bearer" and a token): as it is, in base64 and in hex. */
function patternsOf(value: string): string[] {
  const parts = [value, ...value.split(" ")].filter(({ length }) => length >= MIN_LENGTH);
  return parts.flatMap((part) => [
    patternOf(part),
    ...base64Of(part).map((text) => patternOf(text, { "+": "[+-]", "/": "[/_]" })),
    [...Buffer.from(part)].map(hexPattern).join(""),
  ]);
}

/**
 * Returns a pattern that matches a text, however each of its characters is written: as it is, escaped as in JSON
 * (`\u003d` and `\/`, also of JSON within JSON), or percent-encoded (`%3D`, `%253D`, and `+` for a space).
 *
 * @param variants Patterns of characters that have other spellings.
 */
function patternOf(text: string, variants: Readonly<Record<string, string>> = {}): string {
  return (text.match(/\\+|./g) ?? [])
    .map((unit, index) => {
      const [character = ""] = unit;
      const code = character.charCodeAt(0);
      const hex = hexPattern(code);
      // A run of backslashes is matched only from its start, so that no text takes long to search.
      const backslashes = index === 0 ? "(?<!\\\\)\\\\+" : "\\\\{1,8}";
      const encoded = `(?:${backslashes}u00${hex}|%(?:25){0,4}${hex})`;
      if (character === "\\") {
        const run = index === 0 ? `(?<!\\\\)\\\\{${unit.length},}` : `\\\\{${unit.length},${8 * unit.length}}`;
        return `(?:${run}|${encoded}{${unit.length}})`;
      }
      const prefix = character === '"' || character === "/" ? `(?:${backslashes})?` : "";
      const plain = variants[character] ?? (character === " " ? "[ +]" : `\\x${code.toString(16)}`);
      return `(?:${prefix}${plain}|${encoded})`;
    })
    .join("");
}

/** Returns the pattern of a byte in hex, in lower or upper case. */
const hexPattern = (byte: number) =>
  [...byte.toString(16).padStart(2, "0")].map((digit) => `[${digit}${digit.toUpperCase()}]`).join("");

/** Returns the characters that a text has in base64, for each of the three places in a group where it can begin. */
function base64Of(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    const whole = Math.floor((bytes.length * 8) / 6);
    return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), whole);
  });
}
