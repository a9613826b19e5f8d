import { type Hex, hexToBytes } from "viem";

/** As viem's `hexToBytes`, which reads digit by digit. */
export function toBytes(hex: Hex): Uint8Array {
  const bytes = Buffer.from(hex.slice(2), "hex");
  // An odd digit, or what is no hex at all.
  return hex.length === 2 + 2 * bytes.length ? bytes : hexToBytes(hex);
}

/** As viem's `bytesToHex`, which puts the text together digit by digit. */
export const toHex = ({ buffer, byteOffset, byteLength }: Uint8Array): Hex =>
  `0x${Buffer.from(buffer, byteOffset, byteLength).toString("hex")}`;
