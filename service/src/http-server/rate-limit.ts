import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { finished, type Readable, Transform } from "node:stream";
import type { CreateRateLimitOptions } from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import type { Clock } from "../process/context.js";
import { callerIdOf } from "./caller-address.js";
import { tooManyBytes, tooManyChunks, tooManyRequests } from "./http-problems.js";
import type { ProblemError } from "./problem-error.js";

const WINDOW_SECONDS = 60;

/** A bound on the requests of one caller. */
export interface RequestLimit {
  /** Names the limit in the answer's headers: letters and dashes. */
  readonly name: string;
  readonly perMinute: number | ((request: FastifyRequest) => number);
  /** Identifies the caller; by default the IPv4 address or the IPv6 network of 64 bits. */
  readonly callerOf?: NonNullable<CreateRateLimitOptions["keyGenerator"]>;
  /** Makes the answer for a caller above the limit. */
  readonly exceeded?: (perMinute: number, retryAfterSeconds: number) => ProblemError;
}

/** The callers that a limit remembers; beyond them, the least recently seen are forgotten. */
const MAX_CALLERS = 5_000;

/**
 * The counters of one limit, as a store of @fastify/rate-limit. The plugin's own goes by the time of day: a clock that is
 * set back makes its windows longer by as much.
 */
export class MonotonicCounters {
  readonly #windows = new LRUCache<string, { count: number; readonly startedAt: number }>({ max: MAX_CALLERS });

  constructor(private readonly clock: Pick<Clock, "monotonic">) {}

  /** Counts a request in the present window of a caller. */
  incr(
    caller: string,
    done: (error: null, counted: { current: number; ttl: number }) => void,
    windowMs = WINDOW_SECONDS * 1_000,
  ): void {
    done(null, this.add(caller, 1, windowMs));
  }

  /** Counts an amount in the present window of a caller. */
  add(caller: string, amount: number, windowMs = WINDOW_SECONDS * 1_000): { current: number; ttl: number } {
    const now = this.clock.monotonic();
    let window = this.#windows.get(caller);
    if (window === undefined || now - window.startedAt >= windowMs) {
      window = { count: 0, startedAt: now };
      this.#windows.set(caller, window);
    }
    window.count += amount;
    return { current: window.count, ttl: windowMs - (now - window.startedAt) };
  }

  /** Makes the counters of another limit. */
  child(): MonotonicCounters {
    return new MonotonicCounters(this.clock);
  }
}

/** How many bytes the bodies of a caller's requests may have on average, if it makes all that it may. */
const BODY_BYTES_PER_REQUEST = 4 * 1024;

/**
 * Makes a function that counts the body of a request before it is read, because reading it takes time in proportion. It
 * throws a ProblemError above the limit.
 *
 * @param requestsPerMinute How many requests a caller may make.
 */
export function bodyLimiter(clock: Pick<Clock, "monotonic">, requestsPerMinute: number) {
  const counters = new MonotonicCounters(clock);
  const max = requestsPerMinute * BODY_BYTES_PER_REQUEST;
  return ({ headers, ip, routeOptions: { bodyLimit } }: FastifyRequest): void => {
    // A body without a length may have any, and a longer one than its route allows is not read.
    const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : bodyLimit;
    if (length === 0) return;
    const { current, ttl } = counters.add(callerIdOf(ip), Math.min(length, bodyLimit));
    if (current > max) throw tooManyBytes(max, Math.ceil(ttl / 1_000));
  };
}

/** In how many chunks the body of a request may come. Each costs about as much as a small request. */
const MAX_CHUNKS = 256;

/** Passes on a body that is sent in chunks. It ends with a ProblemError after too many of them. */
export function limitChunks(body: Readable): Readable {
  let chunks = 0;
  const limited = new Transform({
    transform(chunk, _encoding, done) {
      chunks += 1;
      done(chunks > MAX_CHUNKS ? tooManyChunks(MAX_CHUNKS) : null, chunk);
    },
  });
  finished(body, (error) => {
    if (error) limited.destroy(error);
  });
  return body.pipe(limited);
}

/** The limit of health checks, separate from the service's. Several checkers behind one address stay far below it. */
export const HEALTH_RATE: RequestLimit = { name: "health", perMinute: 240 };

/** Counts a request and adds the limit's headers to its answer. Rejects with a ProblemError above the limit. */
export type RateLimiter = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/**
 * Makes a limiter with counters of its own, kept by @fastify/rate-limit. The headers are written here: the plugin's are
 * of an older draft (draft-ietf-httpapi-ratelimit-headers) that cannot name several limits of one request.
 */
export function rateLimiter(
  app: Pick<FastifyInstance, "createRateLimit">,
  { name, perMinute, callerOf = ({ ip }) => callerIdOf(ip), exceeded = tooManyRequests }: RequestLimit,
): RateLimiter {
  const count = app.createRateLimit({
    max: perMinute,
    timeWindow: WINDOW_SECONDS * 1_000,
    keyGenerator: callerOf,
  });
  return async (request, reply) => {
    const counted = await count(request);
    // Only callers on the plugin's allow list are not counted, and there is no such list.
    if (counted.isAllowed) return;
    const { max, remaining, ttlInSeconds, isExceeded } = counted;
    setItem(reply, "ratelimit-policy", name, `q=${max};w=${WINDOW_SECONDS}`);
    setItem(reply, "ratelimit", name, `r=${remaining};t=${ttlInSeconds}`);
    if (isExceeded) throw exceeded(max, ttlInSeconds);
  };
}

/** Makes a limiter that counts the requests of all callers together. */
export function globalRateLimiter(
  app: Pick<FastifyInstance, "createRateLimit">,
  name: string,
  perMinute: number,
  exceeded: (perMinute: number, retryAfterSeconds: number, who: string) => ProblemError = tooManyRequests,
): RateLimiter {
  return rateLimiter(app, {
    name,
    perMinute,
    callerOf: () => "all",
    exceeded: (max, seconds) => exceeded(max, seconds, "All callers together"),
  });
}

/** Sets the item of one limit in a header. If a request is counted several times, the last count is shown. */
function setItem(reply: FastifyReply, header: string, name: string, parameters: string): void {
  const items = reply.getHeader(header)?.toString().split(", ") ?? [];
  const others = items.filter((item) => !item.startsWith(`"${name}";`));
  reply.header(header, [...others, `"${name}";${parameters}`].join(", "));
}

/**
 * Makes a `preParsing` hook that bounds the requests of all anonymous callers together: those without a reserved share.
 * On a route it runs after the limit of each caller, so that one caller above its limit does not use up the others'.
 */
export function anonymousTotalLimit(
  app: Pick<FastifyInstance, "createRateLimit">,
  requestsPerMinute: number,
  isReserved: (address: string) => boolean,
) {
  const limit = globalRateLimiter(app, "anonymous", requestsPerMinute, (max, seconds) =>
    tooManyRequests(max, seconds, "Together, all callers without a reserved share"),
  );
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!isReserved(request.ip)) await limit(request, reply);
  };
}

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
