import { type Address, type Hex, TransactionNotFoundError, TransactionReceiptNotFoundError } from "viem";
import { getTransaction, getTransactionCount, getTransactionReceipt, sendRawTransaction as send } from "viem/actions";
import type { ChainClient } from "./client.js";
import { nullFor, unwrapRpcError } from "./rpc-error.js";

/** The block of a mined transaction, and the result of its call. */
export interface Mined {
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly isReverted: boolean;
  /** An update without an event stored nothing: its round, or a newer one, was stored before. */
  readonly hasEvents: boolean;
}

/** Reads the number of transactions that an account has sent: its next nonce. */
export function readNonce(client: ChainClient, address: Address, blockTag: "latest" | "pending"): Promise<number> {
  return unwrapRpcError(client, "eth_getTransactionCount", getTransactionCount(client, { address, blockTag }));
}

/** Reads in which block a transaction was mined; null when the node knows none. */
export async function readMined(client: ChainClient, hash: Hex): Promise<Mined | null> {
  const action = getTransactionReceipt(client, { hash }).catch(nullFor(TransactionReceiptNotFoundError));
  const receipt = await unwrapRpcError(client, "eth_getTransactionReceipt", action);
  if (receipt === null) return null;
  const { blockNumber, blockHash, status, logs } = receipt;
  const isReverted = status === "reverted";
  return { blockNumber: Number(blockNumber), blockHash, isReverted, hasEvents: logs.length > 0 };
}

/** Reads a transaction, mined or pending; null when the node does not have it. */
export function readTransaction(client: ChainClient, hash: Hex) {
  const action = getTransaction(client, { hash }).catch(nullFor(TransactionNotFoundError));
  return unwrapRpcError(client, "eth_getTransactionByHash", action);
}

/** Sends a signed transaction to all RPC endpoints. It returns when one has accepted it. */
export async function sendRawTransaction(client: ChainClient, serializedTransaction: Hex): Promise<void> {
  await unwrapRpcError(client, "eth_sendRawTransaction", send(client, { serializedTransaction }));
}
