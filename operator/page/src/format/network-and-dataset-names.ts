import { shortHex } from "./hex";

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
