import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { encodeFunctionData, keccak256, stringToHex } from "viem";
import { sendCalls } from "./send-calls.js";

/** Publishes specs, and returns their hashes. */
export async function publishSpecs(client, registry, specs) {
  const bytes = specs.map((spec) => stringToHex(typeof spec === "string" ? spec : canonical(spec)));
  const calls = bytes.map((spec) =>
    encodeFunctionData({ abi: webOracleRegistryAbi, functionName: "publish", args: [spec] }),
  );
  await sendCalls(client, registry, calls);
  return bytes.map((spec) => keccak256(spec));
}

/** Returns the canonical JSON (RFC 8785) of a value with strings, whole numbers, booleans, arrays and objects only. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}
