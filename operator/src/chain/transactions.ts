import {
  type Address,
  BlockNotFoundError,
  type Hex,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from "viem";
import {
  getBlock,
  getTransaction,
  getTransactionCount,
  getTransactionReceipt,
  sendRawTransaction as send,
} from "viem/actions";
import { type ChainClient, unwrapRpcError } from "./client.js";

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

/** Reads the hash of a block; null when the chain is not that long. */
export async function readBlockHash(client: ChainClient, blockNumber: number): Promise<Hex | null> {
  const action = getBlock(client, { blockNumber: BigInt(blockNumber) }).catch(nullFor(BlockNotFoundError));
  return (await unwrapRpcError(client, "eth_getBlockByNumber", action))?.hash ?? null;
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

/** Turns viem's "not found" error into null. */
function nullFor(NotFound: abstract new (...args: never[]) => Error): (error: unknown) => null {
  return (error) => {
    if (error instanceof NotFound) return null;
    throw error;
  };
}
