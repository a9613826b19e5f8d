import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { recoverSigner } from "@dataset-oracle/service/crypto/recover-signer";
import {
  type Address,
  bytesToHex,
  concatHex,
  getAddress,
  type Hex,
  hexToBytes,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializable,
} from "viem";

/** A transaction that somebody signed, read from its raw form. */
export interface SignedTransaction {
  readonly raw: Hex;
  readonly hash: Hex;
  readonly sender: Address;
  readonly chainId: number;
  readonly nonce: number;
  readonly to: Address;
  readonly data: Hex;
  readonly gas: bigint;
  /** The most that it pays per unit of gas, in wei. */
  readonly maxFeePerGas: bigint;
}

/**
 * Reads a raw transaction of the kind that the operator itself sends: a call without value, signed for one chain.
 *
 * @returns Null for any other.
 */
export function readSignedTransaction(raw: Hex): SignedTransaction | null {
  try {
    const { r, s, v, yParity, ...unsigned } = parseTransaction(raw);
    const { type, chainId, nonce = 0, to, data = "0x", gas, value = 0n } = unsigned;
    if (type !== "eip1559" && type !== "legacy") return null;
    const maxFeePerGas = type === "legacy" ? unsigned.gasPrice : unsigned.maxFeePerGas;
    if (chainId === undefined || !to || gas === undefined || maxFeePerGas === undefined || value !== 0n) return null;
    const parity = yParity ?? (v === undefined ? null : Number((v - 35n) % 2n));
    if (r === undefined || s === undefined || (parity !== 0 && parity !== 1)) return null;
    const digest = keccak(hexToBytes(serializeTransaction(unsigned as TransactionSerializable)));
    const sender = recoverSigner(digest, concatHex([padded(r), padded(s), parity === 0 ? "0x1b" : "0x1c"]));
    if (sender === null) return null;
    const hash = bytesToHex(keccak(hexToBytes(raw)));
    return { raw, hash, sender, chainId, nonce, to: getAddress(to), data, gas, maxFeePerGas };
  } catch {
    // The bytes are not a transaction.
    return null;
  }
}

const padded = (word: Hex): Hex => `0x${word.slice(2).padStart(64, "0")}`;
