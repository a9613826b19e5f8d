import { type Address, numberToHex } from "viem";
import type { ChainClient } from "./client.js";
import type { PooledTransaction } from "./rpc-result-schemas.js";

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
): Promise<readonly PooledTransaction[] | null> {
  // The transport checks the answers' shapes; viem's types do not have these methods.
  const request = <T>(method: string, params: readonly unknown[]) =>
    client.request({ method, params } as never) as Promise<T>;
  const readOne = (nonce: number) =>
    request<PooledTransaction | null>("eth_getTransactionBySenderAndNonce", [sender, numberToHex(nonce)]);
  type ByNonce = Record<string, PooledTransaction>;
  try {
    const { pending, queued } = await request<{ pending: ByNonce; queued: ByNonce }>("txpool_contentFrom", [sender]);
    return [...Object.values(pending), ...Object.values(queued)];
  } catch {
    return Promise.all(nonces.map(readOne)).then(
      (found) => found.filter((one) => one !== null),
      () => null,
    );
  }
}
