import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "./app.js";
import { tooManyRequests } from "./http-problems.js";
import { limitRate } from "./rate-limit.js";

/**
 * A hook that bounds what all callers without a reserved share ask for together. It belongs after the caller's own
 * limit (`preParsing` does), so that one who exceeds that does not use up the others'.
 */
export function strangersLimit(app: App, requestsPerMinute: number, isReserved: (address: string) => boolean) {
  const limit = limitRate(app, {
    name: "strangers",
    perMinute: requestsPerMinute,
    callerOf: () => "strangers",
    exceeded: (max, seconds) => tooManyRequests(max, seconds, "All callers without a reserved share together"),
  });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (!isReserved(request.ip)) await limit(request, reply);
  };
}
