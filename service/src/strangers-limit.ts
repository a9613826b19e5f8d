import type { FastifyRequest } from "fastify";
import type { App } from "./app.js";
import { tooManyRequests } from "./http-problems.js";

/**
 * A hook that bounds what all callers without a reserved share ask for together. It belongs after the caller's own
 * limit (`preParsing` does), so that one who exceeds that does not use up the others'.
 */
export function strangersLimit(app: App, requestsPerMinute: number, isReserved: (address: string) => boolean) {
  const count = app.createRateLimit({ max: requestsPerMinute, keyGenerator: () => "strangers" });
  return async (request: FastifyRequest): Promise<void> => {
    if (isReserved(request.ip)) return;
    const counted = await count(request);
    if (counted.isAllowed || !counted.isExceeded) return;
    throw tooManyRequests(requestsPerMinute, counted.ttlInSeconds, "All callers without a reserved share together");
  };
}
