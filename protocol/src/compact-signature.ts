import { concatHex, type Hex, hexToBigInt, numberToHex, size, slice } from "viem";

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
