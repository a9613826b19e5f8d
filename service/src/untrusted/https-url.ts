import { err, ok, type Result } from "@dataset-oracle/protocol/result";

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

/** Matches the whole text, because URL parsers silently repair a lot. The last label starts with a letter: no IP. */
const HTTPS_URL = new RegExp(
  `^https://((?:${LABEL}\\.)+(?=[a-z])${LABEL})(?:[/?](?:[!$&-;=?-Z_a-z~@]|%[0-9A-Fa-f]{2})*)?$`,
);

const MAX_HOST = 253;
const MAX_URL = 2_048;

/** Top-level domains of this machine, its network and the name service itself (RFC 6761, 6762, 7686, 8375, 9476). */
const LOCAL_TLDS = ["localhost", "local", "internal", "intranet", "lan", "home", "corp", "onion", "alt", "arpa"];

/**
 * Reads a URL that may come from anyone: https on its standard port, a lower-case ASCII host name with a dot, no user,
 * no fragment, and no characters that a parser would change.
 */
export function parseHttpsUrl(text: string): Result<URL> {
  if (text.length > MAX_URL) return err(`The URL has ${text.length} characters, above the limit of ${MAX_URL}.`);
  const host = HTTPS_URL.exec(text)?.[1];
  if (host === undefined || host.length > MAX_HOST) {
    return err(
      `${text.slice(0, 100)} is not an allowed URL. Write https:// and a lower-case host name (no IP address, port ` +
        "or user), then optionally a path and query, with special characters percent-encoded, and no fragment.",
    );
  }
  const last = host.slice(host.lastIndexOf(".") + 1);
  if (LOCAL_TLDS.includes(last)) return err(`${host}: names under .${last} are not public. Use a public host name.`);
  const url = new URL(text);
  // The pattern and the parser must agree on the host, and that there is no port and no user.
  if (url.host !== host || url.username + url.password !== "")
    return err(`${text} is ambiguous: parsers disagree about its host.`);
  return ok(url);
}
