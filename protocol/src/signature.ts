import { type Address, concatHex, type Hex, hexToBigInt, isHex, numberToHex, recoverAddress, size, slice } from "viem";

/** Half the order of secp256k1. A signature with a higher s is a malleated copy of another one. */
export const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Recovers the signer of a digest. Returns null for a signature that the contract would reject: it must have 65 bytes,
 * r and s above zero, s at most half the curve's order, and v 27 or 28.
 */
export async function recoverSigner(digest: Hex, signature: string): Promise<Address | null> {
  if (!isHex(signature, { strict: true }) || signature.length !== 132) return null;
  const v = hexToBigInt(slice(signature, 64, 65));
  if (v !== 27n && v !== 28n) return null;
  if (hexToBigInt(slice(signature, 32, 64)) > HALF_ORDER) return null;
  try {
    return await recoverAddress({ hash: digest, signature });
  } catch {
    // r or s is out of range, or r is the x-coordinate of no point on the curve.
    return null;
  }
}

/** Returns a signature in the form that the contract reads: r, and s with the parity of v in its highest bit (EIP-2098). */
export function compactSignature(signature: Hex): { readonly r: Hex; readonly vs: Hex } {
  if (size(signature) !== 65) throw new Error(`A signature has 65 bytes; this one has ${size(signature)}.`);
  const parity = hexToBigInt(slice(signature, 64, 65)) - 27n;
  const vs = hexToBigInt(slice(signature, 32, 64)) | (parity << 255n);
  return { r: slice(signature, 0, 32), vs: `0x${vs.toString(16).padStart(64, "0")}` };
}

/** Expands a compact signature to 65 bytes: the inverse of `compactSignature`. */
export function fullSignature({ r, vs }: { readonly r: Hex; readonly vs: Hex }): Hex {
  const word = hexToBigInt(vs);
  const v = 27n + (word >> 255n);
  const s = word & ((1n << 255n) - 1n);
  return concatHex([r, numberToHex(s, { size: 32 }), numberToHex(v, { size: 1 })]);
}
