import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { tooManyRequests } from "./http-problems.js";
import { globalRateLimiter } from "./rate-limit.js";

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
