import { rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { freePort } from "@dataset-oracle/devnet/ports";
import { ROOT } from "@dataset-oracle/tools/root";
import type { Browser } from "playwright-core";
import { createTestClient, http, parseEther, publicActions, walletActions } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type Devnet, freePortOptions, startDevnet } from "../../../../devnet/test/devnet-process.js";
import { launchBrowser } from "./browser.js";
import { type OtherOperator, startOther } from "./operators.js";

/** Everything that the tests need: a devnet, failing operators, a browser. */
export interface World {
  readonly devnet: Devnet;
  readonly browser: Browser;
  readonly chain: ReturnType<typeof connect>;
  /** Served under a base path, without a sender; half of its providers do not answer. */
  readonly lonely: OtherOperator;
  /** Spends no gas and has a low rate limit. */
  readonly strict: OtherOperator;
  /** Its account is empty, and its connection to the chain can be cut. */
  readonly poor: OtherOperator & { readonly cut: (isCut: boolean) => void };
  close(): Promise<void>;
}

/** Nothing answers there: the page only links to it. */
export const EXPLORER = "https://explorer.example";

const connect = (url: string) =>
  createTestClient({ mode: "anvil", transport: http(url), pollingInterval: 100 })
    .extend(publicActions)
    .extend(walletActions);

export async function startWorld(): Promise<World> {
  const ports = await freePortOptions();
  const devnet = await startDevnet(ports);
  const folder = join(ROOT, ".devnet", ports[ports.indexOf("--chain-port") + 1] ?? "", "others");
  const chain = connect(devnet.chain);
  const spender = generatePrivateKey();
  await chain.setBalance({ address: privateKeyToAccount(spender).address, value: parseEther("1") });
  const way = await startWay(devnet.chain);
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const providers = devnet.providers.map(({ address, url }, place) => {
    return { address, url: place < 2 ? url : nowhere };
  });
  const [browser, lonely, strict, poor] = await Promise.all([
    launchBrowser(),
    startOther(devnet, folder, {
      name: "lonely",
      basePath: "/oracle/v1",
      network: { providers, explorerUrl: EXPLORER },
    }),
    startOther(devnet, folder, {
      name: "strict",
      requestsPerMinute: 5,
      network: { gasPerHour: 0, gasPerHourForNewKeys: 0 },
      privateKey: spender,
    }),
    startOther(devnet, folder, { name: "poor", network: { rpcUrls: [way.url] }, privateKey: generatePrivateKey() }),
  ]);
  return {
    devnet,
    browser,
    chain,
    lonely,
    strict,
    poor: { ...poor, cut: way.cut },
    async close() {
      await browser.close();
      await Promise.all([lonely, strict, poor].map((other) => other.process.close()));
      way.server.closeAllConnections();
      way.server.close();
      await devnet.interrupt();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A way to the chain that can be cut. */
async function startWay(chain: string): Promise<{ url: string; server: Server; cut: (isCut: boolean) => void }> {
  let isCut = false;
  const server = createServer((incoming, answer) => {
    if (isCut) return answer.writeHead(502).end();
    const { method, headers } = incoming;
    const forwarded = request(chain, { method: method ?? "POST", headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(answer);
    });
    forwarded.on("error", () => answer.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cut = (next: boolean) => {
    isCut = next;
  };
  return { url, server, cut };
}
