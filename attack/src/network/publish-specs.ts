import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { type Address, encodeFunctionData, type Hex, keccak256, stringToHex } from "viem";
import type { ChainClient } from "./chain-client.js";
import { sendCalls } from "./send-calls.js";

/** Publishes specs, objects or their text, and returns their hashes. */
export async function publishSpecs(
  client: ChainClient,
  registry: Address,
  specs: readonly (string | object)[],
): Promise<Hex[]> {
  const bytes = specs.map((spec) => stringToHex(typeof spec === "string" ? spec : canonical(spec)));
  const calls = bytes.map((spec) =>
    encodeFunctionData({ abi: webOracleRegistryAbi, functionName: "publish", args: [spec] }),
  );
  await sendCalls(client, registry, calls);
  return bytes.map((spec) => keccak256(spec));
}

/** Returns the canonical JSON (RFC 8785) of a value with strings, whole numbers, booleans, arrays and objects only. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}
