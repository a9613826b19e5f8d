import { OWNER } from "@dataset-oracle/devnet/accounts";
import { startAnvil } from "@dataset-oracle/devnet/anvil";
import { clientOf } from "@dataset-oracle/devnet/test-support/chain-client";
import { deployTestContract } from "@dataset-oracle/devnet/test-support/deploy-test-contracts";
import { webOracleRegistryAbi } from "@dataset-oracle/protocol/abi/web-oracle-registry";
import { specHash } from "@dataset-oracle/protocol/spec-hash";
import type { Hex } from "viem";
import { startRpcProxy } from "../../../operator/test/support/rpc-proxy.js";
import { toCanonicalJson } from "../../src/web-oracle/canonical-json.js";

/** Starts a chain, behind an RPC proxy that records calls and can be made to fail. */
export async function startTestChain() {
  const anvil = await startAnvil({ chainId: 42, blockTime: null });
  const client = clientOf(anvil.url);
  const proxy = await startRpcProxy(anvil.url);
  const rpc = {
    ...{ url: proxy.url, calls: proxy.calls },
    fail(how: "none" | "error" | "other_chain") {
      proxy.faults.clear();
      proxy.answers.clear();
      if (how === "error") proxy.faults.set("*", "HTTP 500");
      if (how === "other_chain") proxy.answers.set("eth_chainId", { body: { result: "0x1" } });
    },
  };
  return {
    client,
    rpc,
    /** Deploys a contract without arguments. */
    deploy: (name: string) => deployTestContract(anvil.url, name),
    async close() {
      await proxy.close();
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
