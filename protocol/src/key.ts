import { type Hex, hexToBytes, stringToHex } from "viem";
import { err, ok, type Result } from "./result.js";

/** The most bytes that a key may have. */
export const MAX_KEY_BYTES = 256;

/** The forms a dataset's keys can have; the index is the contract's `KeyForm`. */
export const KEY_FORMS = ["SPOT_PRICE", "WEB_ORACLE"] as const;
export type KeyForm = (typeof KEY_FORMS)[number];

/** The forms in words, for people. */
export const KEY_FORM_WORDS: Readonly<Record<KeyForm, string>> = {
  SPOT_PRICE: "SPOTPX/<BASE>-<QUOTE>, each symbol 1 to 16 characters of A-Z and 0-9",
  WEB_ORACLE: 'WEB/ and 64 lowercase hex digits, then the end or "/" and arguments',
};

const FORMS: Record<KeyForm, RegExp> = {
  SPOT_PRICE: /^SPOTPX\/[A-Z0-9]{1,16}-[A-Z0-9]{1,16}$/,
  WEB_ORACLE: /^WEB\/[0-9a-f]{64}(?:\/|$)/,
};

/**
 * Reads a key as people write it: `0x` and hex digits in either case, or 1 to 256 printable ASCII characters.
 * Both forms of one key give the same bytes. A text that starts with `0x` is hex and nothing else.
 *
 * @returns The key's bytes as lower-case hex.
 */
export function parseKey(text: string): Result<Hex> {
  if (text.startsWith("0X")) return err('Hex starts with "0x", with a small x.');
  if (text.startsWith("0x")) return parseHexKey(text);
  if (text.length === 0) return err("The key is empty.");
  if (!/^[\x20-\x7e]*$/.test(text)) {
    return err("An ASCII key has only the characters from space to ~. Send other bytes in hex form.");
  }
  if (text.length > MAX_KEY_BYTES) return err(tooLong(text.length));
  return ok(stringToHex(text));
}

function parseHexKey(text: string): Result<Hex> {
  const digits = text.slice(2);
  if (!/^[0-9a-fA-F]*$/.test(digits)) return err('After "0x" come only hex digits.');
  if (digits.length === 0) return err("The key is empty.");
  if (digits.length % 2 === 1) return err("A byte is two hex digits, and here is an odd number of them.");
  if (digits.length / 2 > MAX_KEY_BYTES) return err(tooLong(digits.length / 2));
  return ok<Hex>(`0x${digits.toLowerCase()}`);
}

const tooLong = (bytes: number) => `A key has at most ${MAX_KEY_BYTES} bytes; this one has ${bytes}.`;

/** A key's ASCII form, or null where it has bytes that are not printable ASCII. */
export function keyToAscii(key: Hex): string | null {
  const text = bytesToText(key);
  return /^[\x20-\x7e]+$/.test(text) ? text : null;
}

/** Whether a key is of a dataset's form, exactly as the contract decides it. */
export function matchesKeyForm(form: KeyForm, key: Hex): boolean {
  const text = bytesToText(key);
  return text.length <= MAX_KEY_BYTES && FORMS[form].test(text);
}

// One character a byte, so that no bytes can be read as another key's text: a decoder would drop a byte order mark.
const bytesToText = (key: Hex) => Array.from(hexToBytes(key), (byte) => String.fromCharCode(byte)).join("");

/**
 * The key of a spot price.
 *
 * @param pair `<BASE>-<QUOTE>`, for example `ETH-USD`.
 * @throws When the pair is not of that form.
 */
export function spotPriceKey(pair: string): Hex {
  const key = stringToHex(`SPOTPX/${pair}`);
  if (!matchesKeyForm("SPOT_PRICE", key)) {
    throw new Error(`"${pair}" is not a pair: write <BASE>-<QUOTE>, each 1 to 16 characters of A-Z and 0-9.`);
  }
  return key;
}
