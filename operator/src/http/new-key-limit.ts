import type { App } from "@dataset-oracle/service/http-server/app";
import { limiterOfAll, rateLimiter } from "@dataset-oracle/service/http-server/rate-limit";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { DataPoint } from "../data-point.js";
import { tooManyNewKeys } from "../problems.js";
import type { KnownKeys } from "../update/known-keys.js";

/** How many callers' requests for keys that were never stored all callers may make together. */
export const NEW_KEYS_OF_ALL = 10;

/** Counts a request for a key that was never stored. Rejects with a ProblemError above a limit. */
export type NewKeyLimit = (request: FastifyRequest, reply: FastifyReply, dataPoint: DataPoint) => Promise<void>;

/**
 * Makes the limit on requests for keys that were never stored, which is one for all routes: each such request is a
 * question to every provider, and providers limit what they answer to one operator.
 */
export function newKeyLimit(app: App, keys: KnownKeys, perMinute: number): NewKeyLimit {
  const ofCaller = rateLimiter(app, { name: "new-keys", perMinute, exceeded: tooManyNewKeys });
  const ofAll = limiterOfAll(app, "new-keys-of-all", NEW_KEYS_OF_ALL * perMinute, tooManyNewKeys);
  return async (request, reply, dataPoint) => {
    if (await keys.isKnown(dataPoint)) return;
    await ofCaller(request, reply);
    await ofAll(request, reply);
  };
}
