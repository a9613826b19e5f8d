import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { Type } from "@sinclair/typebox";
import type { FastifyHttpOptions, FastifyInstance } from "fastify";
import { callerIdOf } from "./caller-address.js";

/** The schema of the setting that limits open connections. */
export const MaxConnections = Type.Integer({
  minimum: 1,
  maximum: 100_000,
  default: 1_000,
  description: "Connections that may be open at a time. Further ones are closed at once.",
});

/** The schema of the setting that limits the open connections of one caller. */
export const MaxConnectionsPerCaller = Type.Integer({
  minimum: 1,
  maximum: 100_000,
  default: 100,
  description:
    "How many of these connections one caller (an IPv4 address or an IPv6 /64 network) may have. Those from " +
    "trustedProxies are not limited.",
});

/** The largest head of a request: its first line and headers, in bytes. */
export const MAX_HEADER_BYTES = 8 * 1024;
/** The largest body of a request in bytes, unless its route allows more. */
export const BODY_LIMIT = 16 * 1024;
const HEADERS_MS = 5_000;
const REQUEST_MS = 10_000;

/** Limits of every connection, whoever the caller is. They are not settings: no honest client comes near them. */
export const CONNECTION_LIMITS = {
  /** From a request's first byte to its last. A slower one holds a connection that others need. */
  requestTimeout: REQUEST_MS,
  /** The time without a byte in either direction. It is longer than the slowest answer takes. */
  connectionTimeout: 120_000,
  /** Longer than reverse proxies keep idle connections (often 60 s), so that the proxy closes first. */
  keepAliveTimeout: 72_000,
  /** The client then reconnects, possibly to another replica. */
  maxRequestsPerSocket: 1_000,
  http: {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    /** How often Node checks both timeouts; its default is 30 s. */
    connectionsCheckingInterval: 1_000,
  },
} as const satisfies FastifyHttpOptions<Server>;

/** The detail of the answer to a request that was too slow. */
export const TOO_SLOW = `Send its headers within ${HEADERS_MS / 1_000} s, and all of it within ${REQUEST_MS / 1_000} s.`;

/**
 * Closes a caller's connections above a limit at once, so that one caller cannot take all that may be open.
 *
 * @param isUnlimited Returns true if an address may have any number, such as a proxy's, which all callers share.
 */
export function limitConnectionsPerCaller(
  server: Pick<Server, "on">,
  max: number,
  isUnlimited: (address: string) => boolean,
): void {
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isUnlimited(remoteAddress)) return;
    const caller = callerIdOf(remoteAddress);
    const count = open.get(caller) ?? 0;
    if (count >= max) return void socket.destroy();
    open.set(caller, count + 1);
    socket.once("close", () => {
      const rest = (open.get(caller) ?? 0) - 1;
      if (rest > 0) open.set(caller, rest);
      else open.delete(caller);
    });
  });
}

/**
 * Lets a service close as soon as its last answer is sent. By itself a closing server ends only the connections that
 * are idle between two requests. It waits for those without any request yet, which browsers and fetch open in advance,
 * for those that were being answered, until their clients close them, and for requests that never arrive whole.
 */
export function endConnectionsAtClose(app: Pick<FastifyInstance, "server" | "addHook">): void {
  /** The open connections, each with its last request until that is answered. */
  const open = new Map<Socket, IncomingMessage | null>();
  let isClosing = false;
  const endUnused = () => {
    for (const [socket, request] of open) if (request?.complete !== true) socket.destroy();
  };
  app.server.on("connection", (socket: Socket) => {
    open.set(socket, null);
    socket.once("close", () => open.delete(socket));
  });
  app.server.on("request", (request, response) => {
    const { socket } = request;
    if (open.has(socket)) open.set(socket, request);
    response.once("close", () => {
      if (open.get(socket) === request) open.set(socket, null);
    });
  });
  app.addHook("preClose", async () => {
    isClosing = true;
    endUnused();
  });
  app.addHook("onResponse", (_request, _reply, done) => {
    // The request counts as answered just after this hook.
    if (isClosing) setImmediate(endUnused);
    done();
  });
}
