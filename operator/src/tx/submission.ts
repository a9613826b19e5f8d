import { keccak } from "@dataset-oracle/service/keccak";
import { type Address, bytesToHex, type Hex, hexToBytes, type LocalAccount } from "viem";
import { classifyNodeError, type NodeErrorKind } from "../chain/node-errors.js";
import { Bytes32, type Rpc, requestAs } from "../chain/rpc.js";
import { RpcError } from "../chain/rpc-error.js";
import type { Fees } from "./fees.js";
import { isKnown } from "./receipt.js";

/** A transaction without what the queue adds: nonce, fees, signature. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
  readonly gas: bigint;
}

/** A signed transaction. */
export interface Signed {
  readonly raw: Hex;
  readonly hash: Hex;
}

/** What became of a transaction that the RPC was given: without a usable answer, it may be on its way. */
export type Submission =
  | { readonly kind: "accepted" }
  | { readonly kind: "unknown"; readonly error: unknown }
  | { readonly kind: "rejected"; readonly why: NodeErrorKind; readonly error: RpcError };

export async function sign(
  account: LocalAccount,
  chainId: number,
  nonce: number,
  { to, data, gas }: Call,
  fees: Fees,
): Promise<Signed> {
  const raw = await account.signTransaction({ chainId, nonce, to, data, gas, value: 0n, ...fees });
  return { raw, hash: bytesToHex(keccak(hexToBytes(raw))) };
}

export async function submit(rpc: Rpc, { raw, hash }: Signed): Promise<Submission> {
  try {
    await requestAs(rpc, Bytes32, "eth_sendRawTransaction", [raw]);
    return { kind: "accepted" };
  } catch (error) {
    if (error instanceof RpcError && error.kind === "refused") {
      const why = classifyNodeError(error.reason);
      return why === "already_known" ? { kind: "accepted" } : { kind: "rejected", why, error };
    }
    // The node knows whether it has it.
    const isThere = await isKnown(rpc, hash).catch(() => false);
    return isThere ? { kind: "accepted" } : { kind: "unknown", error };
  }
}
