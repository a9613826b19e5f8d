import type { App } from "@dataset-oracle/service/http-server/app";
import { globalRateLimiter, rateLimiter } from "@dataset-oracle/service/http-server/rate-limit";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Hex } from "viem";
import type { Dataset } from "../dataset/dataset.js";
import { tooManyNewKeys } from "./problems.js";

/** For keys that were never stored, the limit of all callers together is this many times the limit of one. */
const NEW_KEYS_OF_ALL_CALLERS = 10;

/**
 * Counts a request for a key that is neither stored, nor in a feed, nor in the deployment file. Reads the chain only if
 * nothing else tells. Rejects with a ProblemError above a limit.
 */
export type NewKeyLimit = (request: FastifyRequest, reply: FastifyReply, dataset: Dataset, key: Hex) => Promise<void>;

declare module "fastify" {
  interface FastifyInstance {
    limitNewKeys: NewKeyLimit;
  }
}

/**
 * Makes the limit on requests for keys that were never stored, which all routes share: for each such request every
 * provider is asked, and providers limit how many questions one operator may ask.
 */
export function newKeyLimit(app: App, perMinute: number): NewKeyLimit {
  const ofCaller = rateLimiter(app, { name: "new-keys", perMinute, exceeded: tooManyNewKeys });
  const ofAll = globalRateLimiter(app, "new-keys-of-all", NEW_KEYS_OF_ALL_CALLERS * perMinute, tooManyNewKeys);
  return async (request, reply, { storedKeys, keys }, key) => {
    if (storedKeys.remembers(key) || keys.has(key)) return;
    // While the chain cannot be read, a key counts as not stored.
    if (await storedKeys.has(key).catch(() => false)) return;
    await ofCaller(request, reply);
    await ofAll(request, reply);
  };
}
