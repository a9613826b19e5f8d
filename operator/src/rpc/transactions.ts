import {
  type Address,
  formatTransaction,
  type Hex,
  type RpcTransaction,
  type Transaction,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from "viem";
import { getTransaction, getTransactionReceipt } from "viem/actions";
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

/**
 * Reads an account's transactions in the node's pool. geth, erigon and reth list them in one call; reth and anvil find
 * one by its nonce.
 *
 * @param nonces The nonces to ask for if the node cannot list the transactions.
 * @returns Null if the node supports neither method, or the calls fail.
 */
export async function readPooledTransactions(
  client: ChainClient,
  sender: Address,
  nonces: readonly number[],
): Promise<readonly Transaction[] | null> {
  try {
    // The transport checks the answer's shape; viem's types do not have this method.
    const listing = client.request({ method: "txpool_contentFrom", params: [sender] } as never);
    const { pending, queued } = (await listing) as Record<"pending" | "queued", Record<string, RpcTransaction>>;
    return [...Object.values(pending), ...Object.values(queued)].map((shown) => formatTransaction(shown));
  } catch {
    const readOne = (nonce: number) =>
      getTransaction(client, { sender, nonce }).catch(nullFor(TransactionNotFoundError));
    return Promise.all(nonces.map(readOne)).then(
      (found) => found.filter((one) => one !== null),
      () => null,
    );
  }
}
