import type { App } from "@dataset-oracle/service/http-server/app";
import { type RateLimit, rateLimiter } from "@dataset-oracle/service/http-server/rate-limit";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Address } from "viem";

/**
 * The limit of one address is this many times that of a node: nodes can share an address, and a signature costs little
 * to check.
 */
const NODES_PER_ADDRESS = 10;

/** Counts a request of a node, by its submitter. Rejects with a ProblemError above the limit. */
type NodeLimit = (request: FastifyRequest, reply: FastifyReply, submitter: Address) => Promise<void>;

/** Makes a limit for each node. Which node sent a request is known only once its signature is checked. */
export function nodeLimit(app: App, limit: Omit<RateLimit, "callerOf">): NodeLimit {
  const submitters = new WeakMap<object, Address>();
  const count = rateLimiter(app, { ...limit, callerOf: (request) => submitters.get(request) ?? "" });
  return (request, reply, submitter) => {
    submitters.set(request, submitter);
    return count(request, reply);
  };
}

/**
 * Makes the limits of a route that nodes call.
 *
 * @param name Names the route's limit for each address.
 * @returns The `rate` of the route's configuration, which counts addresses, and the limit of each node.
 */
export const nodeLimits = (app: App, name: string, perMinute: number) => ({
  rate: { name, perMinute: NODES_PER_ADDRESS * perMinute },
  limitNode: nodeLimit(app, { name: "node", perMinute }),
});
