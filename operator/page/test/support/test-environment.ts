import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import type { ServiceProcess } from "@dataset-oracle/devnet/service-process";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Browser } from "playwright-core";
import { createTestClient, http, publicActions, walletActions } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { type Devnet, freePortOptions, startDevnet } from "../../../../devnet/test/devnet-process.js";
import { type RpcProxy, startRpcProxy } from "../../../test/support/rpc-proxy.js";
import { launchBrowser } from "./launch-browser.js";
import { startExtraOperator } from "./start-extra-operator.js";

/** Everything that the tests need: a devnet, failing operators, a browser. */
export interface TestEnvironment {
  readonly devnet: Devnet;
  readonly browser: Browser;
  readonly chain: ReturnType<typeof connect>;
  /** Served under a base path, without a sender; half of its providers do not answer. */
  readonly lonely: ServiceProcess;
  /** Its account is empty, and its RPC endpoint can be told to fail. */
  readonly poor: ServiceProcess & { readonly rpc: RpcProxy };
  close(): Promise<void>;
}

/** Nothing answers there: the page only links to it. */
export const EXPLORER = "https://explorer.example";

const connect = (url: string) =>
  createTestClient({ mode: "anvil", transport: http(url), pollingInterval: 100 })
    .extend(publicActions)
    .extend(walletActions);

export async function startTestEnvironment(): Promise<TestEnvironment> {
  const ports = await freePortOptions();
  const devnet = await startDevnet(ports);
  const folder = join(ROOT, ".devnet", ports[ports.indexOf("--chain-port") + 1] ?? "", "others");
  const chain = connect(devnet.chain);
  const rpc = await startRpcProxy(devnet.chain);
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const providers = devnet.providers.map(({ address, url }, place) => {
    return { address, url: place < 2 ? url : nowhere };
  });
  const [browser, lonely, poor] = await Promise.all([
    launchBrowser(),
    startExtraOperator(devnet, folder, {
      name: "lonely",
      basePath: "/oracle/v1",
      network: { providers, explorerUrl: EXPLORER },
    }),
    startExtraOperator(devnet, folder, {
      name: "poor",
      network: { rpcUrls: [rpc.url] },
      privateKey: generatePrivateKey(),
    }),
  ]);
  return {
    devnet,
    browser,
    chain,
    lonely,
    poor: { ...poor, rpc },
    async close() {
      await browser.close();
      await Promise.all([lonely, poor].map((other) => other.close()));
      await rpc.close();
      await devnet.interrupt();
    },
  };
}
