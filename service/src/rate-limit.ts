import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./app.js";
import { tooManyRequests } from "./http-problems.js";
import type { ProblemError } from "./problem.js";

const WINDOW_SECONDS = 60;

/** A bound on what one caller may ask for. */
export interface RateLimit {
  /** What its answers call it: letters and dashes. */
  readonly name: string;
  readonly perMinute: number | ((request: FastifyRequest) => number);
  /** Who is one caller; an IPv4 address or an IPv6 network of 64 bits when it is left out. */
  readonly callerOf?: (request: FastifyRequest) => string;
  /** What a caller is told who asks for more. */
  readonly exceeded?: (perMinute: number, retryAfterSeconds: number) => ProblemError;
}

/**
 * A hook that counts a request, and says in RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers) how
 * many more there may be. A request that several limits count has each of them there.
 */
export function limitRate(app: App, { name, perMinute, callerOf, exceeded = tooManyRequests }: RateLimit) {
  const count = app.createRateLimit({
    timeWindow: WINDOW_SECONDS * 1_000,
    max: typeof perMinute === "number" ? perMinute : (request) => perMinute(request),
    ...(callerOf && { keyGenerator: callerOf }),
  });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const counted = await count(request);
    if (counted.isAllowed) return;
    const { max, remaining, ttlInSeconds } = counted;
    addItem(reply, "ratelimit-policy", `"${name}";q=${max};w=${WINDOW_SECONDS}`);
    addItem(reply, "ratelimit", `"${name}";r=${remaining};t=${ttlInSeconds}`);
    if (counted.isExceeded) throw exceeded(max, ttlInSeconds);
  };
}

function addItem(reply: FastifyReply, header: string, item: string): void {
  const items = reply.getHeader(header);
  reply.header(header, items === undefined ? item : `${items}, ${item}`);
}
