import { err, ok, type Result } from "@dataset-oracle/protocol/result";

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

/** The whole text, because a parser mends much: the last label has a letter first, so that it is no address. */
const HTTPS_URL = new RegExp(
  `^https://((?:${LABEL}\\.)+(?=[a-z])${LABEL})(?:[/?](?:[!$&-;=?-Z_a-z~@]|%[0-9A-Fa-f]{2})*)?$`,
);

const MAX_HOST = 253;
const MAX_URL = 2_048;

/** Names of this machine, of its network and of the name service itself (RFC 6761, 6762, 7686, 8375, 9476). */
const OWN_NAMES = ["localhost", "local", "internal", "intranet", "lan", "home", "corp", "onion", "alt", "arpa"];

/**
 * Reads an url that may be asked for strangers: https on its standard port, a host name in small ASCII letters with a
 * dot in it, no user, no fragment, no characters that a parser would change.
 */
export function parseHttpsUrl(text: string): Result<URL> {
  if (text.length > MAX_URL) return err(`An url has at most ${MAX_URL} characters; this one has ${text.length}.`);
  const host = HTTPS_URL.exec(text)?.[1];
  if (host === undefined || host.length > MAX_HOST) {
    return err(
      `${text.slice(0, 100)}: an url is "https://", a host name in small letters and no address, no port, no user, ` +
        'then "/" and a path and query in ASCII, with other characters percent-encoded.',
    );
  }
  const last = host.slice(host.lastIndexOf(".") + 1);
  if (OWN_NAMES.includes(last)) return err(`${host}: names under .${last} are not public.`);
  const url = new URL(text);
  // A parser that reads another host, port or user than is written must not be relied on.
  if (url.host !== host || url.username + url.password !== "") return err(`${text}: this url reads in two ways.`);
  return ok(url);
}
