import type { App } from "@dataset-oracle/service/http-server/app";
import { globalRateLimiter, rateLimiter } from "@dataset-oracle/service/http-server/rate-limit";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Address } from "viem";
import type { DataPoint } from "../data-point.js";
import { tooManyNewKeys } from "../problems.js";
import { nodeLimit } from "./node-rate-limits.js";

/** For keys that were never stored, the limit of all callers together is this many times the limit of one. */
const NEW_KEYS_OF_ALL_CALLERS = 10;

/**
 * Reports whether a key is listed in the deployment file, belongs to a feed, or is stored, rather than merely named by a
 * caller. While the chain cannot be read, a key counts as not stored.
 */
async function isKnownKey({ network, dataset, key }: DataPoint): Promise<boolean> {
  if (network.storedKeys.remembers(dataset.address, key)) return true;
  if (dataset.keys.includes(key)) return true;
  return (
    dataset.feeds.some((feed) => feed.key === key) || network.storedKeys.has(dataset.address, key).catch(() => false)
  );
}

/**
 * Counts a request for a key that is neither stored, nor in a feed, nor in the deployment file. Reads the chain only if
 * nothing else tells. Rejects with a ProblemError above a limit.
 */
export type NewKeyLimit = (request: FastifyRequest, reply: FastifyReply, dataPoint: DataPoint) => Promise<void>;

/**
 * Makes the limit on requests for keys that were never stored, which all routes share: for each such request every
 * provider is asked, and providers limit how many questions one operator may ask.
 */
export function newKeyLimit(app: App, perMinute: number): NewKeyLimit {
  const ofCaller = rateLimiter(app, { name: "new-keys", perMinute, exceeded: tooManyNewKeys });
  const ofAll = globalRateLimiter(app, "new-keys-of-all", NEW_KEYS_OF_ALL_CALLERS * perMinute, tooManyNewKeys);
  return async (request, reply, dataPoint) => {
    if (await isKnownKey(dataPoint)) return;
    await ofCaller(request, reply);
    await ofAll(request, reply);
  };
}

/**
 * Makes the limit of each node on requests for keys that were never stored. It is that of all callers together, because
 * a node forwards the requests of all its callers.
 *
 * @returns A function that counts a request of a node unless its key is known. It rejects with a ProblemError above the
 * limit.
 */
export function newKeyLimitOfNodes(app: App, perMinute: number) {
  const ofNode = nodeLimit(app, {
    name: "new-keys-of-node",
    perMinute: NEW_KEYS_OF_ALL_CALLERS * perMinute,
    exceeded: (max, seconds) => tooManyNewKeys(max, seconds, "A node"),
  });
  return async (request: FastifyRequest, reply: FastifyReply, submitter: Address, dataPoint: DataPoint) => {
    if (!(await isKnownKey(dataPoint))) await ofNode(request, reply, submitter);
  };
}
