import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Type } from "@sinclair/typebox";
import type { FastifyHttpOptions, FastifyInstance } from "fastify";

/** The setting of how many connections a service keeps. */
export const MaxConnections = Type.Integer({
  minimum: 1,
  maximum: 100_000,
  default: 1_000,
  description: "Connections that may be open at a time; any more are ended at once.",
});

/** The most bytes that a request's headers may have together, with its first line. */
export const MAX_HEADER_BYTES = 8 * 1024;
const HEADERS_MS = 5_000;
const REQUEST_MS = 10_000;

/** What a connection may cost before its caller is known. None of it is a setting: no honest client comes near. */
export const CONNECTION_LIMITS = {
  /** A request from its first byte to its last: what is slower holds a connection that others need. */
  requestTimeout: REQUEST_MS,
  /** Nothing is read or written for so long: longer than the longest answer takes. */
  connectionTimeout: 120_000,
  /** Longer than reverse proxies keep theirs (60 s is common): who ends a connection should be the one that uses it. */
  keepAliveTimeout: 72_000,
  /** Then the client connects anew, and may come to another replica. */
  maxRequestsPerSocket: 1_000,
  http: {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    /** How often the two timeouts are looked at: Node does it every 30 s unless it is told. */
    connectionsCheckingInterval: 1_000,
  },
} as const satisfies FastifyHttpOptions<Server>;

/** What a caller is told whose request was too slow. */
export const TOO_SLOW = `Send its headers within ${HEADERS_MS / 1_000} s, and all of it within ${REQUEST_MS / 1_000} s.`;

/**
 * Lets a service close as soon as nothing is answered any more. By itself a closing server ends the connections that are
 * between two requests then, and waits for two others: those on which nobody has asked anything yet, as browsers and fetch
 * open them in advance, and those whose answer was under way, until their client lets go of them.
 */
export function endConnectionsAtClose(app: Pick<FastifyInstance, "server" | "addHook">): void {
  const silent = new Set<Socket>();
  let isClosing = false;
  app.server.on("connection", (socket: Socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  app.server.on("request", ({ socket }) => silent.delete(socket));
  app.addHook("preClose", async () => {
    isClosing = true;
    for (const socket of silent) socket.destroy();
  });
  app.addHook("onResponse", (_request, _reply, done) => {
    // The connection is between two requests just after this.
    if (isClosing) setImmediate(() => app.server.closeIdleConnections());
    done();
  });
}
