import { type Static, Type } from "@sinclair/typebox";
import { decoded } from "../trusted/url-remover.js";
import { ConfigError } from "./config-error.js";
import { requireNoQuote } from "./require-no-quote.js";

const Headers = Type.Record(Type.String({ pattern: "^[A-Za-z0-9-]{1,64}$" }), Type.String(), {
  additionalProperties: false,
  description: "The headers of each call, by their names.",
});
/** A JSON-RPC endpoint: its URL, in which there may be a user and a password, or the URL and the headers that it wants. */
export const RpcEndpoint = Type.Union([
  Type.String(),
  Type.Object(
    { url: Type.String({ description: "The endpoint's URL." }), headers: Headers },
    { additionalProperties: false },
  ),
]);
export type RpcEndpoint = Static<typeof RpcEndpoint>;

/**
 * Expands `${NAME}` in a URL, and in the values of headers, to the environment variable of that name.
 *
 * @param setting The setting's name, for errors.
 * @throws ConfigError without the URL or a header, which may hold a token.
 */
export function expandRpcEndpoint<Endpoint extends RpcEndpoint>(
  given: Endpoint,
  setting: string,
  env: NodeJS.ProcessEnv,
): Endpoint;
export function expandRpcEndpoint(given: RpcEndpoint, setting: string, env: NodeJS.ProcessEnv): RpcEndpoint {
  const expand = (template: string) =>
    template.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const value = env[name];
      requireNoQuote(value, `The variable ${name}`);
      if (value) return value;
      throw new ConfigError(`${setting} uses \${${name}}, but the variable ${name} is unset or empty. Set it.`);
    });
  const { url: template, headers = {} } = typeof given === "string" ? { url: given } : given;
  const url = expand(template);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ConfigError(`${setting} is not a URL that starts with http:// or https://.`);
  }
  if (typeof given === "string") return url;
  const expanded = Object.entries(headers).map(([name, value]): [string, string] => {
    const text = expand(value);
    if (/^[\x20-\x7e]+$/.test(text)) return [name, text];
    throw new ConfigError(`${setting}: the header ${name} has no value of printable ASCII characters. Correct it.`);
  });
  return { url, headers: Object.fromEntries(expanded) };
}

/**
 * Returns where an endpoint is called, and with which headers: a user and a password go into one.
 *
 * @returns With all that must not be in a log, beside the parts of the URL.
 */
export function addressOf(endpoint: RpcEndpoint) {
  const { url: given, headers = {} } = typeof endpoint === "string" ? { url: endpoint } : endpoint;
  const url = new URL(given);
  const [user, password] = [decoded(url.username), decoded(url.password)];
  const credentials = Buffer.from(`${user}:${password}`).toString("base64");
  Object.assign(url, { username: "", password: "" });
  const isAuthorized = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  const all: Readonly<Record<string, string>> =
    user + password === "" || isAuthorized ? headers : { authorization: `Basic ${credentials}`, ...headers };
  const words = Object.values(all).flatMap((value) => [value, ...value.split(" ")]);
  return { url: url.href, headers: all, secrets: [user, password, ...words] };
}
