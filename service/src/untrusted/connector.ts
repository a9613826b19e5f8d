import { isIP } from "node:net";
import { buildConnector } from "undici";
import { parseHttpsUrl } from "./https-url.js";
import { isPublicUnicast } from "./public-address.js";
import type { ResolveHost } from "./resolve-by-dns.js";

/** The error code of a forbidden connection. */
export const FORBIDDEN_ADDRESS = "FORBIDDEN_ADDRESS";

class ForbiddenAddressError extends Error {
  override readonly name = "ForbiddenAddressError";
  readonly code = FORBIDDEN_ADDRESS;
}

/** The maximum number of addresses of one host that are checked, and that are tried. */
const MAX_ADDRESSES = 64;
const MAX_TRIED = 3;
const CONNECT_MS = 2_500;

/**
 * Opens TLS connections. The certificate must match the name and come from a trusted authority.
 *
 * @param ca The trusted authorities as PEM; by default those of Node, which no setting of a service changes.
 */
export const dialByTls = (ca?: string): buildConnector.connector =>
  // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED changes the default.
  buildConnector({ timeout: CONNECT_MS, rejectUnauthorized: true, ...(ca !== undefined && { ca }) });

/**
 * Connects to public hosts only. It resolves the name itself, requires every address to be public unicast, and connects
 * to one of these addresses, so that a second lookup cannot lead elsewhere. The certificate must match the name.
 *
 * @param dial Opens the connection: `hostname` is the address, `servername` the name.
 */
export function guardedConnector(
  resolve: ResolveHost,
  dial: buildConnector.connector = dialByTls(),
): buildConnector.connector {
  return (options, callback) => {
    checkedAddresses(options, resolve)
      .then((addresses) => dialFirst(addresses, options, dial))
      .then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
  };
}

type Socket = NonNullable<Parameters<buildConnector.Callback>[1]>;

async function checkedAddresses(
  { protocol, hostname, port }: buildConnector.Options,
  resolve: ResolveHost,
): Promise<readonly string[]> {
  const isStandard = protocol === "https:" && (port === "" || port === "443");
  if (!isStandard || isIP(hostname) !== 0 || !parseHttpsUrl(`https://${hostname}/`).ok) {
    throw new ForbiddenAddressError("Only https on port 443 of a public host name is allowed.");
  }
  const addresses = await resolve(hostname);
  if (addresses.length > MAX_ADDRESSES || !addresses.every(isPublicUnicast)) {
    throw new ForbiddenAddressError("The host's addresses are not all public.");
  }
  return inTurn(addresses).slice(0, MAX_TRIED);
}

/** Takes IPv4 and IPv6 addresses in turn, so that both are tried: a machine may have only one of them. */
function inTurn(addresses: readonly string[]): string[] {
  const families = [4, 6].map((family) => addresses.filter((address) => isIP(address) === family));
  return addresses.flatMap((_, index) => families.flatMap((family) => family[index] ?? []));
}

async function dialFirst(
  addresses: readonly string[],
  options: buildConnector.Options,
  dial: buildConnector.connector,
): Promise<Socket> {
  let failure: unknown = new Error("no address found for this host name");
  for (const address of addresses) {
    try {
      return await dialOne({ ...options, hostname: address, servername: options.hostname }, dial);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function dialOne(options: buildConnector.Options, dial: buildConnector.connector): Promise<Socket> {
  return new Promise((done, fail) => {
    dial(options, (error, socket) => {
      if (error !== null) return fail(error);
      boundAnswers(socket as Socket);
      done(socket as Socket);
    });
  });
}

/** The most that is received in answer to one request, in bytes: twice the longest body that is read. */
const MAX_RECEIVED = 2 * 1024 * 1024;

/** Closes a connection whose answer is too long. Much of one may be in no body: chunks have extensions, which are parsed, too. */
function boundAnswers(socket: Socket): void {
  let written = 0;
  let readBefore = 0;
  socket.on("readable", () => {
    if (socket.bytesWritten !== written) [written, readBefore] = [socket.bytesWritten, socket.bytesRead];
    else if (socket.bytesRead - readBefore > MAX_RECEIVED) socket.destroy(new Error("the answer is too long"));
  });
}
