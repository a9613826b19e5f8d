import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Anvil, startAnvil } from "@dataset-oracle/devnet/anvil";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { specHash } from "@dataset-oracle/protocol/spec-hash";
import { createPublicClient, createWalletClient, getAddress, type Hex, http } from "viem";
import { toCanonicalJson } from "../../src/web-oracle/canonical-json.js";

/** One of anvil's unlocked accounts. */
const PUBLISHER = "0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f";

/** Starts a chain with a WebOracleRegistry, behind an RPC proxy that records calls and can be made to fail. */
export async function startRegistry() {
  const bytecode = readBytecode();
  const anvil = await startAnvil({ chainId: 42 });
  try {
    return await deployRegistry(anvil, bytecode);
  } catch (error) {
    await anvil.close();
    throw error;
  }
}

function readBytecode(): Hex {
  const path = new URL("../../../out/WebOracleRegistry.sol/WebOracleRegistry.json", import.meta.url);
  try {
    return JSON.parse(readFileSync(path, "utf8")).bytecode.object;
  } catch {
    throw new Error("WebOracleRegistry is not compiled. Run: npm run build:sol");
  }
}

async function deployRegistry(anvil: Anvil, bytecode: Hex) {
  const wallet = createWalletClient({ account: PUBLISHER, transport: http(anvil.url) });
  const client = createPublicClient({ transport: http(anvil.url), pollingInterval: 100 });
  const deployed = await wallet.deployContract({ abi: webOracleRegistryAbi, bytecode, chain: null });
  const { contractAddress } = await client.waitForTransactionReceipt({ hash: deployed });
  if (!contractAddress) throw new Error("The registry was not deployed.");
  const address = getAddress(contractAddress);
  const rpc = await startProxy(anvil.url);

  const publishBytes = async (spec: Hex): Promise<Hex> => {
    const publish = { address, abi: webOracleRegistryAbi, functionName: "publish", args: [spec], chain: null } as const;
    const receipt = await client.waitForTransactionReceipt({ hash: await wallet.writeContract(publish) });
    if (receipt.status !== "success") throw new Error("The spec was not published.");
    const hash = specHash(spec);
    if (!hash.ok) throw new Error(hash.error);
    return hash.value;
  };
  return {
    address,
    rpc,
    /** Publishes bytes as they are. */
    publishBytes,
    /** Publishes a spec's canonical JSON. */
    publish(spec: unknown): Promise<Hex> {
      const bytes = toCanonicalJson(spec);
      if (!bytes.ok) throw new Error(bytes.error);
      return publishBytes(bytes.value);
    },
    async close() {
      await rpc.close();
      await anvil.close();
    },
  };
}
export type TestRegistry = Awaited<ReturnType<typeof startRegistry>>;

async function startProxy(target: string) {
  const calls: string[] = [];
  let failure: "none" | "error" | "other_chain" = "none";
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { id, method } = JSON.parse(body);
    calls.push(method);
    response.setHeader("content-type", "application/json");
    if (failure === "error") return response.writeHead(500).end();
    if (failure === "other_chain" && method === "eth_chainId") {
      return response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x1" }));
    }
    const answer = await fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body });
    return response.end(await answer.text());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    /** With a token in its path, as providers of RPCs have them. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3/t0ken-of-the-rpc`,
    calls,
    fail(how: typeof failure) {
      failure = how;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
