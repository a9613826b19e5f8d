import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../process/context.js";
import { callerIdOf } from "./caller-id.js";
import { HEALTH_RATE, MonotonicCounters } from "./rate-limit.js";

/** How many requests of one connection may wait for their answers. Clients that pipeline at all send a few. */
const MAX_PIPELINED = 16;
/** A caller floods if it makes this many times what the larger of its two limits allows, connections included. */
export const FLOOD_FACTOR = 3;
/** A request whose body is sent in chunks counts as so many: what arrives at once can be thousands of them. */
export const CHUNKED_COST = 32;
/** The longest body that is received without being read, such as that of a refused request: longer than any may be. */
const MAX_UNREAD_BODY = 256 * 1024;

/**
 * Closes the connections of a caller that floods the service, before a request is routed: a refusal costs more than a
 * small request, so an answer to each would keep others waiting. A connection is closed if too many of its requests are
 * unanswered; all of a caller's are, and those that it opens, for what is left of the minute in which it made far more
 * requests than it may, or opened as many connections. So is one whose request may go on after its answer. It is called
 * before the server has other listeners than the one that handles requests.
 *
 * @param requestsPerMinute The requests that one caller may make.
 * @param isUnlimited Returns true if an address may do both, such as a proxy's, which all callers share.
 */
export function limitFloods(
  server: Server,
  requestsPerMinute: number,
  isUnlimited: (address: string) => boolean,
  clock: Pick<Clock, "monotonic">,
): void {
  const max = FLOOD_FACTOR * Math.max(requestsPerMinute, Number(HEALTH_RATE.perMinute));
  const counters = new MonotonicCounters(clock);
  const isFlooding = (caller: string, requests: number) => counters.add(caller, requests).current > max;
  const connections = new WeakMap<Socket, { readonly caller: string; unanswered: number }>();
  server.on("connection", (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isUnlimited(remoteAddress)) return;
    const caller = callerIdOf(remoteAddress);
    if (isFlooding(caller, 1)) socket.destroy();
    else connections.set(socket, { caller, unanswered: 0 });
  });
  const admits = ({ socket, headers }: IncomingMessage, response: ServerResponse): boolean => {
    // What was parsed together with the request that closed the connection still comes here.
    if (socket.destroyed) return false;
    const isChunked = headers["transfer-encoding"] !== undefined;
    if (isChunked || Number(headers["content-length"]) > MAX_UNREAD_BODY) response.setHeader("connection", "close");
    const connection = connections.get(socket);
    if (connection === undefined) return true;
    const isFlood = isFlooding(connection.caller, isChunked ? CHUNKED_COST : 1);
    if (++connection.unanswered > MAX_PIPELINED || isFlood) socket.destroy();
    else response.once("close", () => connection.unanswered--);
    return !socket.destroyed;
  };
  const handlers = server.listeners("request") as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    if (admits(request, response)) for (const handle of handlers) handle.call(server, request, response);
  });
  // If nobody listens, Node answers expectations that it does not know by itself, and any number of them.
  server.on("checkExpectation", (request, response) => {
    if (admits(request, response)) response.writeHead(417).end();
  });
}
