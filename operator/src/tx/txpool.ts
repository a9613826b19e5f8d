import { type Static, Type } from "@sinclair/typebox";
import { type Address, getAddress, type Hex, hexToBigInt, hexToNumber, numberToHex } from "viem";
import { Bytes32, Data, type Rpc, requestAs } from "../chain/rpc.js";
import type { Fees } from "./fees.js";
import type { Call } from "./submission.js";

/** A transaction of the node's pool. */
export interface Pooled {
  readonly nonce: number;
  readonly hash: Hex;
  readonly call: Call;
  readonly fees: Fees;
}

const Wei = Type.Unsafe<Hex>(Type.String({ pattern: "^0x[0-9a-fA-F]{1,64}$" }));
const Transaction = Type.Object({
  hash: Bytes32,
  nonce: Wei,
  to: Type.Union([Type.Null(), Type.Unsafe<Hex>(Type.String({ pattern: "^0x[0-9a-fA-F]{40}$" }))]),
  input: Data,
  gas: Wei,
  gasPrice: Type.Optional(Type.Union([Type.Null(), Wei])),
  maxFeePerGas: Type.Optional(Type.Union([Type.Null(), Wei])),
  maxPriorityFeePerGas: Type.Optional(Type.Union([Type.Null(), Wei])),
});
const Found = Type.Union([Type.Null(), Transaction]);
const ByNonce = Type.Record(Type.String(), Transaction);
const Content = Type.Object({ pending: ByNonce, queued: ByNonce });

/**
 * What a node tells of a sender's pending transactions. geth, erigon and reth tell all at once, reth and anvil also one
 * by one; of what they do not tell, nothing is there.
 */
export async function readPool(rpc: Rpc, sender: Address, nonces: readonly number[]): Promise<readonly Pooled[]> {
  const all = await requestAs(rpc, Content, "txpool_contentFrom", [sender]).then(
    ({ pending, queued }) => [...Object.values(pending), ...Object.values(queued)],
    () => Promise.all(nonces.map((nonce) => readOne(rpc, sender, nonce))),
  );
  return all.flatMap((one) => (one === null ? [] : toPooled(one)));
}

function readOne(rpc: Rpc, sender: Address, nonce: number): Promise<Static<typeof Found>> {
  const params = [sender, numberToHex(nonce)];
  return requestAs(rpc, Found, "eth_getTransactionBySenderAndNonce", params).catch(() => null);
}

function toPooled({ hash, nonce, to, input, gas, ...offer }: Static<typeof Transaction>): Pooled[] {
  if (to === null) return [];
  const fees = feesOf(offer.maxFeePerGas, offer.maxPriorityFeePerGas, offer.gasPrice);
  const call = { to: getAddress(to), data: input, gas: hexToBigInt(gas) };
  return fees === null ? [] : [{ nonce: hexToNumber(nonce), hash, call, fees }];
}

function feesOf(max: Hex | null = null, tip: Hex | null = null, gasPrice: Hex | null = null): Fees | null {
  if (max !== null && tip !== null) {
    return { type: "eip1559", maxFeePerGas: hexToBigInt(max), maxPriorityFeePerGas: hexToBigInt(tip) };
  }
  return gasPrice === null ? null : { type: "legacy", gasPrice: hexToBigInt(gasPrice) };
}
