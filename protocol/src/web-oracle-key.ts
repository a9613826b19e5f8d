import { type Hex, stringToHex } from "viem";
import { keyToAscii } from "./dataset-key.js";
import { matchesKeyForm } from "./key-form.js";
import { MAX_KEY_BYTES } from "./max-key-bytes.js";
import { percentEncode } from "./percent-encode.js";
import { err, ok, type Result } from "./result.js";

/** The content of a Web Oracle key. */
export interface WebOracleKeyContent {
  /** keccak256 of the request spec's canonical JSON, in lower case. */
  readonly specHash: Hex;
  /** The values of the spec's variables, in the spec's order. */
  readonly args: readonly string[];
}

/**
 * Returns the key `WEB/<64 lowercase hex digits>[/<argument>...]`. Arguments have one legal encoding: UTF-8, in which
 * every byte except `A-Z a-z 0-9 - . _ ~` is written as `%XX` in upper case.
 */
export function webOracleKey({ specHash, args }: WebOracleKeyContent): Result<Hex> {
  if (!/^0x[0-9a-f]{64}$/.test(specHash))
    return err('This is not the hash of a spec. Write "0x" and 64 lowercase hex digits.');
  const parts: string[] = [];
  for (const arg of args) {
    if (/\p{Cs}/u.test(arg))
      return err(`The argument ${JSON.stringify(arg)} has a lone surrogate, which UTF-8 cannot encode. Remove it.`);
    parts.push(`/${percentEncode(arg)}`);
  }
  const text = `WEB/${specHash.slice(2)}${parts.join("")}`;
  if (text.length > MAX_KEY_BYTES) {
    return err(`With these arguments the key has ${text.length} bytes. Shorten them: the maximum is ${MAX_KEY_BYTES}.`);
  }
  return ok(stringToHex(text));
}

/** Parses a Web Oracle key. Arguments in any encoding but the legal one are rejected. */
export function parseWebOracleKey(key: Hex): Result<WebOracleKeyContent> {
  const text = matchesKeyForm("WEB_ORACLE", key) ? keyToAscii(key) : null;
  if (text === null) {
    return err(
      'This is not a Web Oracle key. Write "WEB/", 64 lowercase hex digits and the arguments, each after "/", in ASCII.',
    );
  }
  const [, hash = "", ...written] = text.split("/");
  const args: string[] = [];
  for (const argument of written) {
    const decoded = decodeArgument(argument);
    if (decoded === null)
      return err(
        `The argument "${argument}" is not percent-encoded UTF-8. Write every byte but A-Z a-z 0-9 - . _ ~ as %XX.`,
      );
    const legal = percentEncode(decoded);
    if (legal !== argument) return err(`The argument "${argument}" is not in its only legal form. Write "${legal}".`);
    args.push(decoded);
  }
  return ok({ specHash: `0x${hash}`, args });
}

function decodeArgument(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
