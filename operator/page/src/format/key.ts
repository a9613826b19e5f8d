import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import { shortHex } from "./hex";

/** A key, split for display. */
interface ShownKey {
  /** The part that all keys of a kind share, such as `SPOTPX/`. */
  readonly prefix: string;
  readonly name: string;
}

const WEB_KEY = /^WEB\/([0-9a-f]{64})((?:\/[^/]*)*)$/;

/** Returns the key in ASCII, or in hex if it is not printable. */
export const keyText = ({ key, key_hex }: Pick<ServedPoint, "key" | "key_hex">) => key ?? key_hex;

export function splitKey(text: string): ShownKey {
  const [, hash, rest = ""] = WEB_KEY.exec(text) ?? [];
  if (hash !== undefined) {
    const args = rest.split("/").slice(1).map(decode);
    return { prefix: `WEB/${shortHex(hash)}`, name: args.join(", ") };
  }
  const slash = text.indexOf("/") + 1;
  return { prefix: text.slice(0, slash), name: text.slice(slash) };
}

/**
 * Returns the name of a key for document titles and screen readers.
 *
 * @param title A description of the value from its request spec; null if there is none.
 */
export function keyName(text: string, title: string | null): string {
  const { name, prefix } = splitKey(text);
  return title === null ? name || prefix : [title, name].filter(Boolean).join(": ");
}

function decode(argument: string): string {
  try {
    return decodeURIComponent(argument);
  } catch {
    return argument;
  }
}
