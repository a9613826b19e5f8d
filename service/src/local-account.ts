import {
  type Address,
  getAddress,
  type Hex,
  hashMessage,
  hashTypedData,
  hexToBytes,
  type LocalAccount,
  type SerializeTransactionFn,
  type Signature,
  serializeTransaction,
} from "viem";
import { toAccount } from "viem/accounts";
import { keccak } from "./keccak.js";
import { SECP256K1, type Secp256k1 } from "./secp256k1.js";

/**
 * An account of a private key: its signatures are those of viem's `privateKeyToAccount`, in a fraction of the time. The
 * key cannot be read from it.
 *
 * @throws When the key is 0, or not below the curve's order. The error does not hold it.
 */
export function fromPrivateKey(privateKey: Hex, { sign, publicKeyOf }: Secp256k1 = SECP256K1): LocalAccount {
  const key = hexToBytes(privateKey);
  const signDigest = (digest: Uint8Array): Hex => {
    const { rs, parity } = sign(digest, key);
    return `${hex(rs)}${parity === 0 ? "1b" : "1c"}`;
  };
  return toAccount({
    address: addressOf(publicKeyOf(key)),
    sign: async ({ hash }) => signDigest(hexToBytes(hash)),
    signMessage: async ({ message }) => signDigest(hashMessage(message, "bytes")),
    signTypedData: async (typedData) => signDigest(hexToBytes(hashTypedData(typedData))),
    async signTransaction(transaction, options) {
      const serialize: SerializeTransactionFn = options?.serializer ?? serializeTransaction;
      // Blobs are sent beside what is signed (EIP-4844).
      const signed = transaction.type === "eip4844" ? { ...transaction, sidecars: false as const } : transaction;
      const digest = keccak(hexToBytes(await serialize(signed)));
      return serialize(transaction, partsOf(sign(digest, key)));
    },
  });
}

/** @param publicKey 65 bytes. */
export function addressOf(publicKey: Uint8Array): Address {
  return getAddress(hex(keccak(publicKey.subarray(1)).subarray(12)));
}

/** As viem's `bytesToHex`, which puts the text together digit by digit. */
const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;

const partsOf = ({ rs, parity }: ReturnType<Secp256k1["sign"]>): Signature => ({
  r: hex(rs.subarray(0, 32)),
  s: hex(rs.subarray(32)),
  v: BigInt(27 + parity),
  yParity: parity,
});
