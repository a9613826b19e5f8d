import { type Hex, keccak256, size, stringToHex } from "viem";
import { keyToAscii, MAX_KEY_BYTES, matchesKeyForm } from "./key.js";
import { err, ok, type Result } from "./result.js";

/** What a Web Oracle key names. */
export interface WebKey {
  /** keccak256 of the request spec's canonical JSON, in lower case. */
  readonly specHash: Hex;
  /** The values of the spec's variables, in the spec's order. */
  readonly args: readonly string[];
}

/**
 * The key `WEB/<64 lowercase hex digits>[/<argument>...]`. Arguments are written in the one way that is legal: UTF-8,
 * of which `A-Z a-z 0-9 - . _ ~` stand for themselves and every other byte is `%XX` in upper case.
 */
export function webKey({ specHash, args }: WebKey): Result<Hex> {
  if (!/^0x[0-9a-f]{64}$/.test(specHash)) return err('A spec\'s hash is "0x" and 64 lowercase hex digits.');
  const parts: string[] = [];
  for (const arg of args) {
    if (!isWellFormed(arg)) return err(`${JSON.stringify(arg)} is half of a character: it has no UTF-8.`);
    parts.push(`/${encodeArgument(arg)}`);
  }
  const text = `WEB/${specHash.slice(2)}${parts.join("")}`;
  if (text.length > MAX_KEY_BYTES) {
    return err(`A key has at most ${MAX_KEY_BYTES} bytes; with these arguments it has ${text.length}.`);
  }
  return ok(stringToHex(text));
}

/** Reads a key's bytes. An argument that is written in any other way than the legal one is refused. */
export function parseWebKey(key: Hex): Result<WebKey> {
  const text = matchesKeyForm("WEB_ORACLE", key) ? keyToAscii(key) : null;
  if (text === null) {
    return err('A Web Oracle key is "WEB/", 64 lowercase hex digits and arguments, each after "/", in ASCII.');
  }
  const [, hash = "", ...written] = text.split("/");
  const args: string[] = [];
  for (const argument of written) {
    const decoded = decodeArgument(argument);
    if (decoded === null) return err(`The argument "${argument}" is not percent-encoded UTF-8.`);
    const legal = encodeArgument(decoded);
    if (legal !== argument) return err(`The argument "${argument}" has one legal spelling: "${legal}".`);
    args.push(decoded);
  }
  return ok({ specHash: `0x${hash}`, args });
}

function encodeArgument(argument: string): string {
  // What it leaves as it is, beside the unreserved characters.
  return encodeURIComponent(argument).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function decodeArgument(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Whether it has no half of a surrogate pair. */
function isWellFormed(text: string): boolean {
  try {
    encodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The most bytes of a request spec: the registry takes 1 to as many. */
export const MAX_SPEC_BYTES = 8_192;

/**
 * The hash that a spec's keys name.
 *
 * @param spec The spec's canonical JSON (RFC 8785) in UTF-8. It is not looked into.
 */
export function specHash(spec: Hex): Result<Hex> {
  const bytes = size(spec);
  if (bytes < 1 || bytes > MAX_SPEC_BYTES)
    return err(`A spec has 1 to ${MAX_SPEC_BYTES} bytes; this one has ${bytes}.`);
  return ok(keccak256(spec));
}
