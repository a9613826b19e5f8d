import type { FastifyReply, FastifyRequest } from "fastify";
import { tooManyRequests } from "./http-problems.js";
import { limitRate } from "./rate-limit.js";

/**
 * A `preParsing` hook that bounds what all callers without a reserved share ask for together. There it comes after the
 * caller's own limit, so that one who exceeds that does not use up the others'.
 */
export function strangersLimit(requestsPerMinute: number, isReserved: (address: string) => boolean) {
  const limit = limitRate({
    name: "strangers",
    perMinute: requestsPerMinute,
    callerOf: () => "strangers",
    exceeded: (max, seconds) => tooManyRequests(max, seconds, "All callers without a reserved share together"),
  });
  return (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void): void => {
    if (!isReserved(request.ip)) limit(request, reply);
    done();
  };
}
