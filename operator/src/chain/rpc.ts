import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Hex, hexToBigInt } from "viem";
import type { ChainClient } from "./client.js";
import type { JsonRpc } from "./endpoint.js";
import { RpcError, rpcErrorIn } from "./rpc-error.js";

/** At most 2^53 - 1, so that it is exact as a number, too. */
export const Quantity = Type.Unsafe<Hex>(
  Type.String({ pattern: "^0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,12}|1[0-9a-fA-F]{13})$" }),
);
export const Bytes32 = Type.Unsafe<Hex>(Type.String({ pattern: "^0x[0-9a-fA-F]{64}$" }));
/** Any number of whole bytes. */
export const Data = Type.Unsafe<Hex>(Type.String({ pattern: "^0x(?:[0-9a-fA-F]{2})*$" }));

/** JSON-RPC of one network. The transaction queue moves from it to `ChainClient`. */
export interface Rpc extends JsonRpc {
  readonly chainId: number;
}

export function rpcOf(client: ChainClient): Rpc {
  const request = client.request as (call: { method: string; params: readonly unknown[] }) => Promise<unknown>;
  return {
    chainId: client.chain.id,
    request: (method, params) =>
      request({ method, params }).catch((error: unknown) => {
        throw rpcErrorIn(error) ?? error;
      }),
  };
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
  const result = await rpc.request(method, params);
  if (Value.Check(shape, result)) return result as Static<T>;
  throw new RpcError("failed", rpc.chainId, method, "answered in an unexpected shape");
}

/**
 * Makes a call that is answered with a number.
 *
 * @throws RpcError
 */
export async function requestQuantity(rpc: Rpc, method: string, params: readonly unknown[]): Promise<bigint> {
  return hexToBigInt(await requestAs(rpc, Quantity, method, params));
}
