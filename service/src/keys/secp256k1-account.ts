import {
  bytesToHex,
  type Hex,
  hashMessage,
  hashTypedData,
  hexToBytes,
  type LocalAccount,
  serializeTransaction,
} from "viem";
import { toAccount } from "viem/accounts";
import { keccak } from "../crypto/keccak.js";
import { addressOf, type EcdsaSignature, SECP256K1, type Secp256k1 } from "../crypto/secp256k1.js";

/**
 * Makes the account of a private key. It stands in for viem's `privateKeyToAccount`, whose JavaScript takes 870
 * microseconds to sign a transaction instead of 140: too slow for `bench:operator -- --only broadcast`. The key cannot
 * be read from the account.
 *
 * @throws When the key is 0, or not below the curve's order. The error does not contain it.
 */
export function accountFromPrivateKey(privateKey: Hex, { sign, publicKeyOf }: Secp256k1 = SECP256K1): LocalAccount {
  // viem allocates memory for these bytes alone; a small Buffer would share its memory with others.
  const key = hexToBytes(privateKey);
  const signDigest = (digest: Uint8Array): Hex => {
    const { rs, parity } = sign(digest, key);
    return `${bytesToHex(rs)}${parity === 0 ? "1b" : "1c"}`;
  };
  return toAccount({
    address: addressOf(publicKeyOf(key)),
    sign: async ({ hash }) => signDigest(hexToBytes(hash)),
    signMessage: async ({ message }) => signDigest(hashMessage(message, "bytes")),
    signTypedData: async (typedData) => signDigest(hexToBytes(hashTypedData(typedData))),
    async signTransaction(transaction, { serializer = serializeTransaction } = {}) {
      // The signature does not cover blobs, which are sent along with the transaction (EIP-4844).
      const signed = transaction.type === "eip4844" ? { ...transaction, sidecars: false as const } : transaction;
      const digest = keccak(hexToBytes(await serializer(signed)));
      return serializer(transaction, signatureParts(sign(digest, key)));
    },
  });
}

const signatureParts = ({ rs, parity }: EcdsaSignature) => ({
  r: bytesToHex(rs.subarray(0, 32)),
  s: bytesToHex(rs.subarray(32)),
  v: BigInt(27 + parity),
  yParity: parity,
});
