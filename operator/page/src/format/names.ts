/** Names for people: of networks, datasets and keys. */

import type { ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";

/** Names of well-known networks. */
const NETWORKS: Readonly<Record<number, string>> = {
  1: "Ethereum",
  10: "OP Mainnet",
  42: "Devnet",
  100: "Gnosis",
  137: "Polygon",
  8453: "Base",
  17000: "Holesky",
  42161: "Arbitrum One",
  560048: "Hoodi",
  11155111: "Sepolia",
};

export const networkName = (id: number) => NETWORKS[id] ?? `Network ${id}`;

export const shortHex = (hex: string) => `${hex.slice(0, 6)}…${hex.slice(-4)}`;

/**
 * Converts a dataset's deployment name to words: `webOracleNumber` to "Web Oracle number". An operator without a deployment
 * file names a dataset by its address, which is shortened.
 */
export function datasetName(name: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(name)) return shortHex(name);
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[-_]+/g, " ")
    .toLowerCase();
  return (words.charAt(0).toUpperCase() + words.slice(1)).replace(/\boracle\b/g, "Oracle");
}

/** Returns the key in ASCII, or in hex if it is not printable. */
export const keyText = ({ key, key_hex }: Pick<ServedPoint, "key" | "key_hex">) => key ?? key_hex;

/** A key, split for display. */
interface ShownKey {
  /** The part that all keys of a kind share, such as `SPOTPX/`. */
  readonly prefix: string;
  readonly name: string;
}

const WEB_KEY = /^WEB\/([0-9a-f]{64})((?:\/[^/]*)*)$/;

export function splitKey(text: string): ShownKey {
  const [, hash, rest = ""] = WEB_KEY.exec(text) ?? [];
  if (hash !== undefined) {
    const args = rest.split("/").slice(1).map(decode);
    return { prefix: `WEB/${shortHex(hash)}`, name: args.join(", ") };
  }
  const slash = text.indexOf("/") + 1;
  return { prefix: text.slice(0, slash), name: text.slice(slash) };
}

function decode(argument: string): string {
  try {
    return decodeURIComponent(argument);
  } catch {
    return argument;
  }
}
