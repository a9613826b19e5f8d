import { type Address, type Hex, hexToBigInt, isHex, recoverAddress, slice } from "viem";

/** Half the order of secp256k1. A signature with a higher s is a malleated copy of another one. */
export const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Recovers the signer of a digest. Returns null for a signature that the contract would reject: it must have 65 bytes,
 * r and s above zero, s at most half the curve's order, and v 27 or 28. Services use `recoverSignerSync` of the service
 * package, which is faster but not for browsers.
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
