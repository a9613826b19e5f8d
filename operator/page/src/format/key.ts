import { keyToAscii } from "@dataset-oracle/protocol/key";
import type { ServedPoint } from "@dataset-oracle/protocol/wire-data";
import type { Hex } from "viem";

/** A key as people read it. */
export interface ShownKey {
  /** What comes first and says little, such as `SPOTPX/`. */
  readonly prefix: string;
  readonly name: string;
  /** What the value is, in words, if somebody said. */
  readonly title: string | null;
}

const WEB_KEY = /^WEB\/([0-9a-f]{64})((?:\/[^/]*)*)$/;

/** The key in ASCII where it has such a form, else in hex. */
export const keyText = ({ key, key_hex }: Pick<ServedPoint, "key" | "key_hex">) => key ?? key_hex;

export function showKey(text: string, title: string | null = null): ShownKey {
  const [, hash, rest = ""] = WEB_KEY.exec(text) ?? [];
  if (hash !== undefined) {
    const args = rest.split("/").slice(1).map(decode);
    return { prefix: `WEB/${hash.slice(0, 6)}…${hash.slice(-4)}`, name: args.join(", "), title };
  }
  const slash = text.indexOf("/") + 1;
  return { prefix: text.slice(0, slash), name: text.slice(slash), title };
}

/** The title of a document, and what a screen reader says. */
export function keyName(text: string, title: string | null = null): string {
  const { name, prefix } = showKey(text);
  return title === null ? name || prefix : [title, name].filter(Boolean).join(": ");
}

function decode(argument: string): string {
  try {
    return decodeURIComponent(argument);
  } catch {
    return argument;
  }
}

/** The ASCII form of a key in hex where it has one, else the hex. */
export const keyToText = (key: Hex) => keyToAscii(key) ?? key;
