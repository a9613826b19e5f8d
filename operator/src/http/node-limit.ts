import type { App } from "@dataset-oracle/service/http-server/app";
import { type RateLimit, rateLimiter } from "@dataset-oracle/service/http-server/rate-limit";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Address } from "viem";

/** How many nodes' requests one address may make: nodes can share one, and a signature costs little to check. */
export const NODES_OF_ADDRESS = 10;

/** Counts a request of a node, by its submitter. Rejects with a ProblemError above the limit. */
export type NodeLimit = (request: FastifyRequest, reply: FastifyReply, submitter: Address) => Promise<void>;

/** Makes a limit for each node. Which node sent a request is known only once its signature is checked. */
export function nodeLimit(app: App, limit: Omit<RateLimit, "callerOf">): NodeLimit {
  const submitters = new WeakMap<object, Address>();
  const count = rateLimiter(app, { ...limit, callerOf: (request) => submitters.get(request) ?? "" });
  return (request, reply, submitter) => {
    submitters.set(request, submitter);
    return count(request, reply);
  };
}
