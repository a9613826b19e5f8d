import { ProblemError } from "@dataset-oracle/service/problem";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Hex, hexToBigInt } from "viem";

/** At most 2^53 - 1, so that it is exact as a number, too. */
export const Quantity = Type.Unsafe<Hex>(
  Type.String({ pattern: "^0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,12}|1[0-9a-fA-F]{13})$" }),
);
export const Bytes32 = Type.Unsafe<Hex>(Type.String({ pattern: "^0x[0-9a-fA-F]{64}$" }));
/** Any number of whole bytes. */
export const Data = Type.Unsafe<Hex>(Type.String({ pattern: "^0x(?:[0-9a-fA-F]{2})*$" }));

/**
 * How an RPC call failed: no answer in time, no usable answer, or an error that the node answered. Only a refusal says
 * that nothing came of the call.
 */
export type RpcFailure = "timeout" | "failed" | "refused";

/** An RPC call that failed. What a caller sees of it names the network and never the endpoint. */
export class RpcError extends ProblemError {
  constructor(
    readonly failure: RpcFailure,
    chainId: number,
    readonly method: string,
    /** What the node, or the connection, said, without the endpoint's URL. For logs. */
    readonly reason: string,
    /** What a reverted call returned. */
    readonly data: Hex | null = null,
  ) {
    super(
      failure === "timeout"
        ? {
            title: `The RPC of network ${chainId} did not answer in time.`,
            status: 504,
            code: "rpc_timeout",
            detail: "Try again in a few seconds. If it lasts, the operator's RPC endpoint is in trouble.",
          }
        : {
            title: `The RPC of network ${chainId} failed.`,
            status: 502,
            code: "rpc_failed",
            detail: "Try again in a few seconds. If it lasts, the operator's RPC endpoint is in trouble.",
          },
    );
    this.name = "RpcError";
  }
}

/** What a log says of an error. */
export function wordsOf(error: unknown): string {
  if (error instanceof RpcError) return `${error.method}: ${error.reason}`;
  return error instanceof Error ? error.message : String(error);
}

/** JSON-RPC of one network. */
export interface Rpc {
  readonly chainId: number;
  /**
   * Makes one call.
   *
   * @param isUsable Whether a result has the shape that it must have; without it any has.
   * @throws RpcError
   */
  request(method: string, params: readonly unknown[], isUsable?: (result: unknown) => boolean): Promise<unknown>;
}

/**
 * Makes a call whose answer must have a shape.
 *
 * @throws RpcError
 */
export async function requestAs<T extends TSchema>(
  rpc: Rpc,
  shape: T,
  method: string,
  params: readonly unknown[],
): Promise<Static<T>> {
  const isUsable = (result: unknown) => Value.Check(shape, result);
  const result = await rpc.request(method, params, isUsable);
  if (isUsable(result)) return result as Static<T>;
  throw otherShape(rpc.chainId, method);
}

/**
 * Makes a call that is answered with a number.
 *
 * @throws RpcError
 */
export async function requestQuantity(rpc: Rpc, method: string, params: readonly unknown[]): Promise<bigint> {
  return hexToBigInt(await requestAs(rpc, Quantity, method, params));
}

export function otherShape(chainId: number, method: string): RpcError {
  return new RpcError("failed", chainId, method, "answered something of another shape");
}
