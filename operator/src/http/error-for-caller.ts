import { traceFieldsOf } from "@dataset-oracle/service/http-server/trace";
import type { FastifyRequest } from "fastify";
import { RpcError } from "../chain/rpc-error.js";
import type { Operator } from "../operator.js";
import { shuttingDown } from "../problems.js";

/** Returns the error that a caller gets for a failed update, and logs what is for the operator's owner only. */
export function errorForCaller({ closing }: Operator, { log, trace }: FastifyRequest, error: unknown): unknown {
  // The RPC endpoint's own message is for the operator's log, not for the caller.
  if (error instanceof RpcError) {
    log.warn({ ...traceFieldsOf(trace), method: error.method, reason: error.reason }, "RPC failed");
  }
  // A shutdown ends everything that is waited for, so its failure says nothing about the request.
  return closing.aborted ? shuttingDown() : error;
}
