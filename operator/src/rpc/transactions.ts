import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { recoverSignerSync } from "@dataset-oracle/service/crypto/recover-signer-sync";
import {
  type Address,
  concatHex,
  formatTransaction,
  type Hex,
  hexToBigInt,
  hexToBytes,
  hexToNumber,
  numberToHex,
  padHex,
  type RpcTransaction,
  serializeTransaction,
  type Transaction,
  type TransactionSerializable,
} from "viem";
import type { ChainClient } from "./client.js";

/** The block of a mined transaction, and the result of its call. */
export interface Mined {
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly isReverted: boolean;
  readonly gasUsed: bigint;
  /** An update without an event stored nothing: its round, or a newer one, was stored before. */
  readonly hasEvents: boolean;
}

/** What a node shows of a receipt, as far as it is used and checked. */
type ShownReceipt = Readonly<Record<"blockNumber" | "blockHash" | "status" | "gasUsed", Hex>> & {
  readonly logs: readonly unknown[];
};

/** Reads in which block a transaction was mined; null where no endpoint has it yet. @throws RpcError */
export async function readMined(client: ChainClient, hash: Hex): Promise<Mined | null> {
  const receipt = await client.ask<ShownReceipt | null>("eth_getTransactionReceipt", [hash]);
  if (receipt === null) return null;
  const { blockNumber, blockHash, status, logs, gasUsed } = receipt;
  return {
    blockNumber: hexToNumber(blockNumber),
    blockHash,
    isReverted: hexToNumber(status) === 0,
    gasUsed: hexToBigInt(gasUsed),
    hasEvents: logs.length > 0,
  };
}

/** Reads a transaction, mined or pending; null where no endpoint has it. @throws RpcError */
export function readTransaction(client: ChainClient, hash: Hex) {
  type ShownTransaction = Pick<RpcTransaction, "from" | "to" | "input">;
  return client.ask<ShownTransaction | null>("eth_getTransactionByHash", [hash]);
}

/**
 * Reads an account's transactions in the node's pool. geth, erigon and reth list them in one call; reth and anvil find
 * one by its nonce. What a node shows is its claim: `readSigned` says whether the account has signed it.
 *
 * @param nonces The nonces that are looked for. Others are left out, however many a node lists.
 * @returns Null if the node supports neither method, or the calls fail.
 */
export async function readPooledTransactions(
  client: ChainClient,
  sender: Address,
  nonces: readonly number[],
): Promise<readonly Transaction[] | null> {
  const asked = new Set(nonces);
  const isAskedFor = ({ nonce }: Transaction) => asked.has(nonce);
  try {
    type Listing = Record<"pending" | "queued", Record<string, RpcTransaction>>;
    const { pending, queued } = await client.ask<Listing>("txpool_contentFrom", [sender]);
    const shown = nonces.flatMap((nonce) => [pending[nonce] ?? [], queued[nonce] ?? []].flat());
    return shown.map((one) => formatTransaction(one)).filter(isAskedFor);
  } catch {
    const readOne = (nonce: number) =>
      client.ask<RpcTransaction | null>("eth_getTransactionBySenderAndNonce", [sender, numberToHex(nonce)]);
    return Promise.all(nonces.map(readOne)).then(
      (found) => found.flatMap((one) => (one === null ? [] : formatTransaction(one))).filter(isAskedFor),
      () => null,
    );
  }
}

/**
 * Puts the signed transaction together that a node shows.
 *
 * @returns Null unless `sender` has signed it, for this chain: then it is the node's invention, or another's.
 */
export function readSigned(chainId: number, sender: Address, shown: Transaction): Hex | null {
  try {
    const { type, nonce, to, value, gas, input: data, accessList, r, s, v } = shown;
    const isLegacy = type === "legacy" || type === "eip2930";
    const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = shown;
    const fees = isLegacy ? { gasPrice } : { maxFeePerGas, maxPriorityFeePerGas };
    const content = { type, chainId, nonce, to, value, gas, data, accessList, ...fees } as TransactionSerializable;
    const parity = shown.yParity ?? Number(v >= 35n ? (v - 35n) % 2n : v - 27n);
    const signature = concatHex([padHex(r), padHex(s), numberToHex(27 + parity, { size: 1 })]);
    const signer = recoverSignerSync(keccak(hexToBytes(serializeTransaction(content))), signature);
    if (signer !== sender) return null;
    return serializeTransaction(content, { r, s, v: isLegacy ? v : BigInt(27 + parity), yParity: parity });
  } catch {
    return null;
  }
}
