import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { OWNER } from "@dataset-oracle/devnet/accounts";
import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { clientOf } from "@dataset-oracle/devnet/test-support/chain-client";
import { deployTestContract } from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { specHash } from "@dataset-oracle/protocol/spec-hash";
import type { Hex } from "viem";
import { toCanonicalJson } from "../../src/web-oracle/canonical-json.js";

/** Starts a chain, behind an RPC proxy that records calls and can be made to fail. */
export async function startTestChain() {
  const anvil = await startAnvil({ chainId: 42, blockTime: null });
  const client = clientOf(anvil.url);
  const rpc = await startProxy(anvil.url);
  return {
    client,
    rpc,
    /** Deploys a contract without arguments. */
    deploy: (name: string) => deployTestContract(anvil.url, name),
    async close() {
      await rpc.close();
      await anvil.close();
    },
  };
}

/** Starts a chain with a WebOracleRegistry. */
export async function startRegistry() {
  const chain = await startTestChain();
  const address = await chain.deploy("WebOracleRegistry");
  return {
    ...chain,
    address,
    /** Publishes a spec's canonical JSON. */
    async publish(spec: unknown): Promise<Hex> {
      const bytes = toCanonicalJson(spec);
      if (!bytes.ok) throw new Error(bytes.error);
      const { client } = chain;
      const call = { address, abi: webOracleRegistryAbi, functionName: "publish", args: [bytes.value] } as const;
      await client.waitForTransactionReceipt({ hash: await client.writeContract({ ...call, account: OWNER.address }) });
      const hash = specHash(bytes.value);
      if (!hash.ok) throw new Error(hash.error);
      return hash.value;
    },
  };
}

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
