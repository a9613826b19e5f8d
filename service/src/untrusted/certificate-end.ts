import type { TLSSocket } from "node:tls";
import { buildConnector } from "undici";
import { guardedConnector } from "./connector.js";
import { resolveByDns } from "./resolve-by-dns.js";

/** Connects whatever the certificate says, which is all that is read. A resumed session would show an earlier one. */
const dial = buildConnector({ timeout: 5_000, rejectUnauthorized: false, maxCachedSessions: 0 });

/**
 * Reads until when the certificate of a host is valid. It sends no request, and trusts nothing that it reads.
 *
 * @param url If it is not https, there is no certificate.
 * @param isTrusted False for a URL that anyone may have written: only public hosts are connected to.
 * @returns In milliseconds since 1970; null if it cannot be read.
 */
export async function certificateEnd(url: string, isTrusted: boolean): Promise<number | null> {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "https:") return null;
  // Sockets want IPv6 addresses without brackets.
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const connect = isTrusted ? dial : guardedConnector(resolveByDns(), dial);
  return new Promise((resolve) => {
    connect({ protocol, host, hostname: host, port }, (error, socket) => {
      if (error !== null) return resolve(null);
      const end = Date.parse((socket as TLSSocket).getPeerCertificate().valid_to);
      socket.destroy();
      resolve(Number.isNaN(end) ? null : end);
    });
  });
}
