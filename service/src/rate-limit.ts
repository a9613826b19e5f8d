import type { FastifyReply, FastifyRequest } from "fastify";
import { callerAt } from "./caller.js";
import { tooManyRequests } from "./http-problems.js";
import type { ProblemError } from "./problem.js";
import { RequestCounts } from "./request-counts.js";

const WINDOW_SECONDS = 60;
/** A megabyte or so for each limit. */
const MAX_CALLERS = 5_000;

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
 * What counts a request, and says in RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers) how many more
 * there may be. A request that several limits count has each of them there.
 *
 * @returns It throws a ProblemError when there have been too many.
 */
export function limitRate({ name, perMinute, callerOf, exceeded = tooManyRequests }: RateLimit) {
  const counts = new RequestCounts(WINDOW_SECONDS * 1_000, MAX_CALLERS);
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const max = typeof perMinute === "number" ? perMinute : perMinute(request);
    const now = Math.trunc(performance.now());
    const { count, endsAt } = counts.add(callerOf?.(request) ?? callerAt(request.ip), now);
    const seconds = Math.ceil((endsAt - now) / 1_000);
    addItem(reply, "ratelimit-policy", `"${name}";q=${max};w=${WINDOW_SECONDS}`);
    addItem(reply, "ratelimit", `"${name}";r=${Math.max(0, max - count)};t=${seconds}`);
    if (count > max) throw exceeded(max, seconds);
  };
}

function addItem(reply: FastifyReply, header: string, item: string): void {
  const items = reply.getHeader(header);
  reply.header(header, items === undefined ? item : `${items}, ${item}`);
}
