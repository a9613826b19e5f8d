import { HALF_ORDER } from "@dataset-oracle/protocol/recover-signer";
import { type Address, hexToBytes, numberToBytes } from "viem";
import { addressOf, SECP256K1, type Secp256k1 } from "./secp256k1.js";

type Recovery = Pick<Secp256k1, "recover">;

const MAX_S = numberToBytes(HALF_ORDER, { size: 32 });

/**
 * Recovers signers as the protocol package's `recoverSigner` does, but with libsecp256k1, which takes a thirtieth of the
 * time (secp256k1.ts) and is native code, or WebAssembly, that a dapp's bundle must not contain.
 *
 * @returns Null for a signature that the contract would refuse. It accepts 65 bytes, r and s above zero, s at most half
 * the curve's order, v 27 or 28.
 */
export function recoverSignerWith({ recover }: Recovery): (digest: Uint8Array, signature: string) => Address | null {
  return (digest, signature) => {
    if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return null;
    const bytes = hexToBytes(signature as `0x${string}`);
    const v = bytes[64];
    if (v !== 27 && v !== 28) return null;
    if (Buffer.compare(bytes.subarray(32, 64), MAX_S) > 0) return null;
    const publicKey = publicKeyOf(recover, digest, bytes.subarray(0, 64), v === 27 ? 0 : 1);
    return publicKey === null ? null : addressOf(publicKey);
  };
}

function publicKeyOf(recover: Recovery["recover"], ...signed: Parameters<Recovery["recover"]>): Uint8Array | null {
  try {
    return recover(...signed);
  } catch {
    // r or s is out of range, or r is on no point of the curve.
    return null;
  }
}

export const recoverSignerSync = recoverSignerWith(SECP256K1);
