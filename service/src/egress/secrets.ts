import { readFileSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { ConfigError } from "../config.js";
import type { FetchRequest } from "../fetch.js";
import { parseHttpsUrl } from "./https-url.js";

const strict = { additionalProperties: false } as const;

/** What a paid API is sent to know who pays. The value itself is never in the configuration. */
export const SecretSettings = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      description: "The host that gets it, and no other: for example api.example.com.",
    }),
    header: Type.Optional(Type.String({ pattern: "^[a-z][a-z0-9-]*$", description: "The header that carries it." })),
    query: Type.Optional(
      Type.String({ pattern: "^[A-Za-z0-9._~-]+$", description: "The query parameter that carries it." }),
    ),
    file: Type.Optional(Type.String({ minLength: 1, description: "The path of a file with the value." })),
    env: Type.Optional(Type.String({ minLength: 1, description: "The variable of the environment with the value." })),
  },
  strict,
);
export type SecretSettings = Static<typeof SecretSettings>;

/** A value that shorter texts could hold by chance can't be cut out of them. */
const MIN_LENGTH = 8;

interface Secret {
  readonly host: string;
  readonly carrier: { readonly header: string } | { readonly query: string };
  readonly value: string;
}

/** The secrets for paid APIs: each goes to its own host, and comes back in no text. */
export class Secrets {
  readonly #secrets: readonly Secret[];
  readonly #removals: readonly string[];

  private constructor(secrets: readonly Secret[]) {
    this.#secrets = secrets;
    const texts = secrets.flatMap(({ value }) => formsOf(value));
    this.#removals = [...new Set(texts)].toSorted((a, b) => b.length - a.length);
  }

  static readonly NONE = new Secrets([]);

  /**
   * Reads the values.
   *
   * @throws ConfigError that names the setting to mend, and holds no value.
   */
  static load(settings: readonly SecretSettings[], env: NodeJS.ProcessEnv): Secrets {
    return new Secrets(settings.map((one, index) => loadSecret(one, `secrets/${index}`, env)));
  }

  /** The request with what its host is to know. */
  addTo(request: FetchRequest): FetchRequest {
    const { host } = new URL(request.url);
    let { url } = request;
    const headers = { ...request.headers };
    for (const { host: owner, carrier, value } of this.#secrets) {
      if (owner !== host) continue;
      if ("header" in carrier) headers[carrier.header] = value;
      else url += `${url.includes("?") ? "&" : "?"}${carrier.query}=${encodeURIComponent(value)}`;
    }
    return { ...request, url, headers };
  }

  /** A text from outside without the secrets: an API may repeat what it was sent, and answers become public. */
  removeFrom(text: string): string {
    return this.#removals.reduce((rest, secret) => rest.replaceAll(secret, "<secret>"), text);
  }
}

function loadSecret(
  { host, header, query, file, env: name }: SecretSettings,
  at: string,
  env: NodeJS.ProcessEnv,
): Secret {
  const url = parseHttpsUrl(`https://${host}`);
  if (!url.ok || url.value.host !== host) {
    throw new ConfigError(`${at}: its host is no host name: write it in small letters, without a port.`);
  }
  if ((header === undefined) === (query === undefined)) throw new ConfigError(`${at}: name either header or query.`);
  if ((file === undefined) === (name === undefined)) throw new ConfigError(`${at}: name either file or env.`);
  const value = (file === undefined ? (env[name ?? ""] ?? "") : readSecret(file, at)).trim();
  // Neither host nor name is repeated where it may be the secret itself, set by mistake: names of variables are plain.
  const variable = /^[A-Z_]+$/.test(name ?? "") ? `the variable ${name}` : "the variable that env names";
  const where = file === undefined ? variable : "the file";
  if (value.length < MIN_LENGTH || !/^[\x20-\x7e]+$/.test(value)) {
    throw new ConfigError(
      `${at}: ${where} does not hold ${MIN_LENGTH} or more printable ASCII characters in one line.`,
    );
  }
  return { host, carrier: header === undefined ? { query: query ?? "" } : { header }, value };
}

function readSecret(path: string, at: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`${at}: the file cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

/** As it is, as parts ("Bearer" before a token), and as an url or JSON writes them. */
function formsOf(value: string): string[] {
  const parts = [value, ...value.split(" ")].filter(({ length }) => length >= MIN_LENGTH);
  return parts.flatMap((part) => [
    part,
    encodeURIComponent(part),
    new URLSearchParams({ part }).toString().slice("part=".length),
    JSON.stringify(part).slice(1, -1),
  ]);
}
