import { type Hex, hexToBytes, stringToHex } from "viem";
import { err, ok, type Result } from "./result.js";

/** The maximum number of bytes in a key. */
export const MAX_KEY_BYTES = 256;

/** The forms of a dataset's keys; the index is the contract's `KeyForm`. */
export const KEY_FORMS = ["SPOT_PRICE", "WEB_ORACLE"] as const;
export type KeyForm = (typeof KEY_FORMS)[number];

/** The key forms in words, for people. */
export const KEY_FORM_WORDS: Readonly<Record<KeyForm, string>> = {
  SPOT_PRICE: "SPOTPX/<BASE>-<QUOTE>, where each symbol has 1 to 16 characters of A-Z and 0-9",
  WEB_ORACLE: 'WEB/ and 64 lowercase hex digits, followed by arguments, each after "/", if the spec has variables',
};

const FORMS: Record<KeyForm, RegExp> = {
  SPOT_PRICE: /^SPOTPX\/[A-Z0-9]{1,16}-[A-Z0-9]{1,16}$/,
  WEB_ORACLE: /^WEB\/[0-9a-f]{64}(?:\/|$)/,
};

/**
 * Parses a key: `0x` and hex digits in either case, or 1 to 256 printable ASCII characters. Text that starts with `0x`
 * is always hex. Both forms of a key give the same bytes.
 *
 * @returns The key's bytes as lower-case hex.
 */
export function parseKey(text: string): Result<Hex> {
  if (text.startsWith("0X")) return err('The key starts with "0X". Write "0x" with a lower-case x.');
  if (text.startsWith("0x")) return parseHexKey(text);
  if (text.length === 0) return err("The key is empty.");
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
  if (digits.length === 0) return err("The key is empty.");
  if (digits.length % 2 === 1) return err("The key has an odd number of hex digits. Write two for each byte.");
  if (digits.length / 2 > MAX_KEY_BYTES) return err(tooLong(digits.length / 2));
  return ok<Hex>(`0x${digits.toLowerCase()}`);
}

const tooLong = (bytes: number) => `The key has ${bytes} bytes, more than the maximum of ${MAX_KEY_BYTES}.`;

/** Returns a key in ASCII, or null if it has bytes that are not printable ASCII. */
export function keyToAscii(key: Hex): string | null {
  const text = bytesToText(key);
  return /^[\x20-\x7e]+$/.test(text) ? text : null;
}

/** Returns true if a key has the form, by the same rule as the contract. */
export function matchesKeyForm(form: KeyForm, key: Hex): boolean {
  const text = bytesToText(key);
  return text.length <= MAX_KEY_BYTES && FORMS[form].test(text);
}

// One character for each byte. A text decoder would drop a byte order mark and so confuse different keys.
const bytesToText = (key: Hex) => Array.from(hexToBytes(key), (byte) => String.fromCharCode(byte)).join("");

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
