import { BaseError, type Hex } from "viem";
import { type ErrorMeaning, MEANINGS } from "./node-errors.js";

/**
 * How a JSON-RPC call failed: `timeout`, no answer in time; `failed`, no usable answer; `refused`, the node answered
 * with an error. Whether a node has a transaction, its meaning says.
 */
export type RpcErrorKind = "timeout" | "failed" | "refused";

/** A JSON-RPC call that failed. Its message names no endpoint and no cause, so anyone may read it. */
export class RpcError extends Error {
  constructor(
    readonly kind: RpcErrorKind,
    readonly chainId: number,
    readonly method: string,
    /** The node's or the connection's message, without the endpoint's URL. For logs. */
    readonly reason: string,
    /** The revert data of a call. */
    readonly data: Hex | null = null,
    readonly meaning: ErrorMeaning = kind === "refused" ? "other" : "no_answer",
    /** How long the endpoint asks not to be used. */
    readonly retryAfterMs = 0,
  ) {
    super(`The RPC of network ${chainId} ${kind === "timeout" ? "did not answer in time" : "failed"}.`);
    this.name = "RpcError";
  }
}

/** Finds the RpcError in an error or its causes: viem wraps what its transport throws. */
export function rpcErrorIn(error: unknown): RpcError | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof RpcError) return cause;
  }
  return null;
}

/** Describes an error for a log. */
export function describeError(error: unknown): string {
  const rpcError = rpcErrorIn(error);
  if (rpcError !== null) return `${rpcError.method}: ${rpcError.reason}`;
  return error instanceof Error ? error.message : String(error);
}

/**
 * Waits for a viem action, and unwraps its error.
 *
 * @param method The JSON-RPC method of the action.
 * @throws RpcError; of kind `failed` when viem cannot decode the answer.
 */
export async function unwrapRpcError<T>(
  { chain }: { readonly chain: { readonly id: number } },
  method: string,
  action: Promise<T>,
): Promise<T> {
  try {
    return await action;
  } catch (error) {
    const rpcError = rpcErrorIn(error);
    if (rpcError !== null) throw rpcError;
    const [reason = ""] = String(error instanceof BaseError ? error.shortMessage : error).split("\n");
    throw new RpcError("failed", chain.id, method, `its answer cannot be decoded: ${reason}`);
  }
}

/**
 * Reads in the first of several ways that an endpoint offers.
 *
 * @throws RpcError
 */
export async function firstOffered<T>(...ways: readonly [() => Promise<T>, ...(() => Promise<T>)[]]): Promise<T> {
  const [first, ...others] = ways;
  let way = first;
  for (const next of others) {
    try {
      return await way();
    } catch (error) {
      // An endpoint answered, but neither with a result nor for the chain.
      const isAboutWay =
        error instanceof RpcError &&
        !MEANINGS[error.meaning].isFinal &&
        (error.kind === "refused" || error.meaning === "behind");
      if (!isAboutWay) throw error;
      way = next;
    }
  }
  return way();
}

/** Reads at the pending block, or at the latest one where no endpoint offers the pending block. @throws RpcError */
export function readPending<T>(read: (blockTag: "pending" | "latest") => Promise<T>): Promise<T> {
  return firstOffered(
    () => read("pending"),
    () => read("latest"),
  );
}

/** Turns an error of one class, such as viem's "not found", into null. */
export function nullFor(Expected: abstract new (...args: never[]) => Error): (error: unknown) => null {
  return (error) => {
    if (error instanceof Expected) return null;
    throw error;
  };
}
