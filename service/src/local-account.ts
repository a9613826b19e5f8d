import {
  type Address,
  getAddress,
  getTransactionType,
  type Hex,
  hashMessage,
  hashTypedData,
  hexToBytes,
  type LocalAccount,
  type SerializeTransactionFn,
  type Signature,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerializableEIP1559,
} from "viem";
import { toAccount } from "viem/accounts";
import { serializeEip1559 } from "./eip1559.js";
import { toBytes, toHex } from "./hex.js";
import { keccak } from "./keccak.js";
import { SECP256K1, type Secp256k1 } from "./secp256k1.js";

/**
 * An account of a private key: its signatures are those of viem's `privateKeyToAccount`, in a fraction of the time. The
 * key cannot be read from it.
 *
 * @throws When the key is 0, or not below the curve's order. The error does not hold it.
 */
export function fromPrivateKey(privateKey: Hex, { sign, publicKeyOf }: Secp256k1 = SECP256K1): LocalAccount {
  // In memory of its own: small buffers share theirs.
  const key = hexToBytes(privateKey);
  const signDigest = (digest: Uint8Array): Hex => {
    const { rs, parity } = sign(digest, key);
    return `${toHex(rs)}${parity === 0 ? "1b" : "1c"}`;
  };
  return toAccount({
    address: addressOf(publicKeyOf(key)),
    sign: async ({ hash }) => signDigest(toBytes(hash)),
    signMessage: async ({ message }) => signDigest(hashMessage(message, "bytes")),
    signTypedData: async (typedData) => signDigest(toBytes(hashTypedData(typedData))),
    async signTransaction(transaction, options) {
      if (options?.serializer === undefined && isUsual(transaction)) {
        return toHex(serializeEip1559(transaction, sign(keccak(serializeEip1559(transaction)), key)));
      }
      const serialize: SerializeTransactionFn = options?.serializer ?? serializeTransaction;
      // Blobs are sent beside what is signed (EIP-4844).
      const signed = transaction.type === "eip4844" ? { ...transaction, sidecars: false as const } : transaction;
      const digest = keccak(toBytes(await serialize(signed)));
      return serialize(transaction, partsOf(sign(digest, key)));
    },
  });
}

/** @param publicKey 65 bytes. */
export function addressOf(publicKey: Uint8Array): Address {
  return getAddress(toHex(keccak(publicKey.subarray(1)).subarray(12)));
}

/** Whether it is of the kind that is signed all the time. */
const isUsual = (transaction: TransactionSerializable): transaction is TransactionSerializableEIP1559 =>
  getTransactionType(transaction) === "eip1559" && !transaction.accessList?.length;

const partsOf = ({ rs, parity }: ReturnType<Secp256k1["sign"]>): Signature => ({
  r: toHex(rs.subarray(0, 32)),
  s: toHex(rs.subarray(32)),
  v: BigInt(27 + parity),
  yParity: parity,
});
