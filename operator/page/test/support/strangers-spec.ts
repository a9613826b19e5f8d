import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { encodeFunctionData, keccak256, stringToHex } from "viem";
import type { TestEnvironment } from "./visit.js";

export const STRANGERS_TITLE = "Claim your Ether at evil.example";

/** Canonical JSON. The values are those of the devnet's temperatures. */
const SPEC = JSON.stringify({
  combine: "median",
  minSources: 1,
  sources: [
    {
      decimals: 2,
      method: "GET",
      path: "$.air.kelvin",
      rounding: "half-even",
      type: "uint",
      url: "https://api.weather.example/now?city={city}",
    },
  ],
  title: STRANGERS_TITLE,
  unit: { decimals: 2, symbol: "EVIL" },
  variables: [{ characters: "letters", maxLength: 12, minLength: 2, name: "city", type: "string" }],
});

/** Publishes a spec that neither the operator's configuration nor its deployment names. */
export async function publishStrangersSpec({ chain, devnet }: TestEnvironment) {
  const [, from] = (await chain.request({ method: "eth_accounts" } as never)) as readonly `0x${string}`[];
  const data = encodeFunctionData({ abi: webOracleRegistryAbi, functionName: "publish", args: [stringToHex(SPEC)] });
  const transaction = { from, to: devnet.webOracle.registry, data };
  const hash = await chain.request({ method: "eth_sendTransaction", params: [transaction] } as never);
  await chain.waitForTransactionReceipt({ hash });
  return { hash: keccak256(stringToHex(SPEC)).slice(2) };
}
