import { type Hex, hexToBytes } from "viem";
import { MAX_KEY_BYTES } from "./max-key-bytes.js";

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

/** Returns true if a key has the form, by the same rule as the contract. */
export function matchesKeyForm(form: KeyForm, key: Hex): boolean {
  const text = keyBytesToText(key);
  return text.length <= MAX_KEY_BYTES && FORMS[form].test(text);
}

/**
 * Returns a text with one character for each byte of a key. A text decoder would drop a byte order mark and so confuse
 * different keys.
 */
export const keyBytesToText = (key: Hex): string =>
  Array.from(hexToBytes(key), (byte) => String.fromCharCode(byte)).join("");
