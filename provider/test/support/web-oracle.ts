import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLocalServer } from "@dataset-oracle/devnet/test-support/local-server";
import { webOracleKey } from "@dataset-oracle/protocol/web-oracle-key";
import { type Address, type Hex, stringToHex } from "viem";
import { afterAll, beforeEach, vi } from "vitest";
import { startRegistry } from "./test-chain.js";
import { startProvider } from "./test-provider.js";

export const NUMBERS: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
export const WORDS: Address = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
export const HOST = "api.weather.example";

const city = { name: "city", type: "string", characters: "unicode", minLength: 1, maxLength: 40 };
export const number = { method: "GET", type: "uint", decimals: 2, rounding: "half-even" };
/** Each test has a title of its own, so that its spec is published for it alone. */
export const spec = (title: string, change: object = {}) => ({
  title,
  variables: [city],
  sources: [{ ...number, url: `https://${HOST}/now?q={city}`, path: "$.celsius" }],
  minSources: 1,
  combine: "median",
  ...change,
});
export const word = (title: string, source: object) =>
  spec(title, {
    variables: [],
    sources: [{ method: "GET", url: `https://${HOST}/facts`, ...source }],
    combine: "majority",
  });

/** Runs a registry, an API that specs name, and a provider that serves all published specs, for the tests of a file. */
export async function useWebOracle() {
  const folder = mkdtempSync(join(tmpdir(), "specs-"));
  const asked: string[] = [];
  const registry = await startRegistry();
  const api = await startLocalServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://api");
    asked.push(request.url ?? "");
    if (url.pathname === "/cut") return request.socket.destroy();
    response.setHeader("content-type", "application/json");
    if (url.pathname.startsWith("/large")) return response.end(`[${Array(60_000).fill(1).join(",")}]`);
    if (url.pathname === "/facts") return response.end(`{"text":"rain","long":"${"long ".repeat(20)}"}`);
    return response.end(`{"celsius": ${url.searchParams.get("q") === "São Paulo" ? "21.505" : "3.5e1"}}`);
  });
  const warmUp = key(await registry.publish(spec("a warm-up")), "Lima");
  const redirectedOrigins = { [`https://${HOST}`]: api.url };
  const provider = await start();
  beforeEach(() => {
    registry.rpc.fail("none");
    provider.logs.length = 0;
  });
  afterAll(async () => {
    await provider.close();
    await registry.close();
    await api.close();
  });

  /** Starts another provider with the same folder of specs, and waits until its worker reads values. */
  async function start() {
    const dataset = { name: "web", keyForm: "WEB_ORACLE", keys: [] } as const;
    const datasets = [
      { ...dataset, address: NUMBERS, kind: "median" },
      { ...dataset, address: WORDS, kind: "majority" },
    ] as const;
    const evidence = { folder: mkdtempSync(join(folder, "evidence-")), maxMegabytes: 2 };
    const started = await startProvider(
      { redirectedOrigins, evidence },
      {
        deployments: [{ chainId: 42, webOracleRegistry: registry.address, datasets }],
        webOracle: {
          registries: [{ chainId: 42, address: registry.address, rpcUrl: registry.rpc.url }],
          folder,
          hosts: [HOST],
          sourceHosts: [],
          rateLimitOf: () => ({ perSecond: 100, burst: 100 }),
        },
      },
    );
    await vi.waitUntil(async () => (await started.ask({ dataset: NUMBERS, key: warmUp })).status === 200, 120_000);
    started.logs.length = 0;
    return started;
  }

  /** `asked` has the paths that the API was asked for. */
  return { asked, registry, provider, folder, redirectedOrigins, start };
}

export const key = (specHash: Hex, ...args: string[]): Hex => {
  const made = webOracleKey({ specHash, args });
  if (!made.ok) throw new Error(made.error);
  return made.value;
};

export const stringValue = (text: string) => stringToHex(text, { size: 32 });
