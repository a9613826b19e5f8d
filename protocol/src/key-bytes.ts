import { type Hex, hexToBytes } from "viem";

/** The maximum number of bytes in a key. */
export const MAX_KEY_BYTES = 256;

/**
 * Returns a text with one character for each byte of a key. A text decoder would drop a byte order mark and so confuse
 * different keys.
 */
export const keyBytesToText = (key: Hex): string =>
  Array.from(hexToBytes(key), (byte) => String.fromCharCode(byte)).join("");
