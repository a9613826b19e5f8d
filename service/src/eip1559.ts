import { assertTransactionEIP1559, type TransactionSerializableEIP1559, toRlp } from "viem";
import { toBytes } from "./hex.js";
import type { EcdsaSignature } from "./secp256k1.js";

const TYPE = Uint8Array.of(2);

/**
 * An EIP-1559 transaction without an access list, as viem's `serializeTransaction` makes it of text: the bytes that are
 * signed, or with a signature those that are sent.
 *
 * @throws When a fee, the chain or the address cannot be.
 */
export function serializeEip1559(
  transaction: Omit<TransactionSerializableEIP1559, "accessList">,
  signature?: EcdsaSignature,
): Uint8Array {
  assertTransactionEIP1559(transaction);
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data } = transaction;
  const fees = [maxPriorityFeePerGas, maxFeePerGas, gas].map(toMinimalBytes);
  const call = [toBytes(to ?? "0x"), toMinimalBytes(value), toBytes(data ?? "0x"), []];
  const fields = [toMinimalBytes(chainId), toMinimalBytes(nonce), ...fees, ...call];
  if (signature !== undefined) {
    const { rs, parity } = signature;
    fields.push(toMinimalBytes(parity), trimmed(rs.subarray(0, 32)), trimmed(rs.subarray(32)));
  }
  return Buffer.concat([TYPE, toRlp(fields, "bytes")]);
}

/** Without leading zeros, as RLP writes numbers: none for 0. */
function toMinimalBytes(number: number | bigint | undefined): Uint8Array {
  if (!number) return new Uint8Array();
  const digits = number.toString(16);
  return toBytes(`0x${digits.length % 2 === 0 ? "" : "0"}${digits}`);
}

function trimmed(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first === -1 ? new Uint8Array() : bytes.subarray(first);
}
