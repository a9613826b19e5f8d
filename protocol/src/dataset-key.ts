import { type Hex, stringToHex } from "viem";
import { keyBytesToText, matchesKeyForm } from "./key-form.js";
import { MAX_KEY_BYTES } from "./max-key-bytes.js";
import { err, ok, type Result } from "./result.js";

/**
 * Parses a key: `0x` and hex digits in either case, or 1 to 256 printable ASCII characters. Text that starts with `0x`
 * is always hex. Both forms of a key give the same bytes.
 *
 * @returns The key's bytes as lower-case hex.
 */
export function parseKey(text: string): Result<Hex> {
  if (text.startsWith("0X")) return err('The key starts with "0X". Write "0x" with a lower-case x.');
  if (text.startsWith("0x")) return parseHexKey(text);
  if (text.length === 0) return err(EMPTY);
  if (!/^[\x20-\x7e]*$/.test(text)) {
    return err('The key has a character that is not printable ASCII. Write the key in hex, after "0x".');
  }
  if (text.length > MAX_KEY_BYTES) return err(tooLong(text.length));
  return ok(stringToHex(text));
}

function parseHexKey(text: string): Result<Hex> {
  const digits = text.slice(2);
  if (!/^[0-9a-fA-F]*$/.test(digits))
    return err('The key has a character after "0x" that is not a hex digit. Use only 0-9 and a-f.');
  if (digits.length === 0) return err(EMPTY);
  if (digits.length % 2 === 1) return err("The key has an odd number of hex digits. Write two for each byte.");
  if (digits.length / 2 > MAX_KEY_BYTES) return err(tooLong(digits.length / 2));
  return ok<Hex>(`0x${digits.toLowerCase()}`);
}

const EMPTY = "The key is empty. Write the key of a data point, such as SPOTPX/ETH-USD.";

const tooLong = (bytes: number) =>
  `The key has ${bytes} bytes, more than the maximum of ${MAX_KEY_BYTES}. Write a shorter one.`;

/** Returns a key in ASCII, or null if it has bytes that are not printable ASCII. */
export function keyToAscii(key: Hex): string | null {
  const text = keyBytesToText(key);
  return /^[\x20-\x7e]+$/.test(text) ? text : null;
}

/**
 * Returns the key of a spot price.
 *
 * @param pair `<BASE>-<QUOTE>`, for example `ETH-USD`.
 * @throws If the pair does not have that form.
 */
export function spotPriceKey(pair: string): Hex {
  const key = stringToHex(`SPOTPX/${pair}`);
  if (!matchesKeyForm("SPOT_PRICE", key)) {
    throw new Error(`"${pair}" is not a pair. Write <BASE>-<QUOTE>, each 1 to 16 characters of A-Z and 0-9.`);
  }
  return key;
}
