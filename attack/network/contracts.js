import { OWNER } from "@dataset-oracle/devnet/accounts";
import { deployTestContract, deployTestDataset } from "@dataset-oracle/devnet/deploy-test-contracts";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import {
  createTestClient,
  defineChain,
  encodeFunctionData,
  http,
  keccak256,
  publicActions,
  stringToHex,
  walletActions,
} from "viem";

const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };

/** Returns a client of the chain. */
export function clientOf(url) {
  const chain = defineChain({ id: 42, name: "anvil", nativeCurrency, rpcUrls: { default: { http: [url] } } });
  return createTestClient({ mode: "anvil", chain, transport: http(url), pollingInterval: 100, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
}

/** Deploys a dataset of prices, the two datasets of the Web Oracle, and its registry. */
export async function deployContracts(chainUrl) {
  const web = { keyForm: "WEB_ORACLE" };
  return {
    prices: await deployTestDataset(chainUrl),
    numbers: await deployTestDataset(chainUrl, web),
    words: await deployTestDataset(chainUrl, { ...web, kind: "majority" }),
    registry: await deployTestContract(chainUrl, "WebOracleRegistry", { abi: webOracleRegistryAbi }),
  };
}

/** Publishes specs, and returns their hashes. */
export async function publishSpecs(client, registry, specs) {
  const bytes = specs.map((spec) => stringToHex(typeof spec === "string" ? spec : canonical(spec)));
  const calls = bytes.map((spec) =>
    encodeFunctionData({ abi: webOracleRegistryAbi, functionName: "publish", args: [spec] }),
  );
  await sendAll(client, registry, calls);
  return bytes.map((spec) => keccak256(spec));
}

/**
 * Sends calls to a contract and waits until they are mined. The nonces are counted here, and lost transactions are sent
 * again, because anvil may use a nonce twice while it mines a block.
 */
export async function sendAll(client, to, calls) {
  const { address } = OWNER;
  let left = calls;
  for (let tried = 1; left.length > 0; tried++) {
    if (tried > 3) throw new Error(`${left.length} of ${calls.length} transactions were not mined.`);
    await client.mine({ blocks: 1 });
    const first = await client.getTransactionCount({ address });
    const hashes = [];
    for (const [i, data] of left.entries()) {
      const send = client.sendTransaction({ account: address, to, data, gas: 300_000n, nonce: first + i });
      hashes.push(await send.catch(() => null));
    }
    await client.mine({ blocks: 1 });
    const isMined = await Promise.all(
      hashes.map(async (hash) => {
        if (hash === null) return false;
        const receipt = client.waitForTransactionReceipt({ hash, timeout: 10_000 });
        return receipt.then(() => true).catch(() => false);
      }),
    );
    left = left.filter((_, i) => !isMined[i]);
  }
}

/** Returns the canonical JSON (RFC 8785) of a value with strings, whole numbers, booleans, arrays and objects only. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}
