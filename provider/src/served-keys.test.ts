import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { Deployment } from "@dataset-oracle/service/config/deployment";
import { fromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import { Value } from "@sinclair/typebox/value";
import { stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import { ProviderConfig } from "./config.js";
import { listNotes, summarize } from "./load-setup.js";
import { decideServed, pairSources, requireKeys, type Served } from "./served-keys.js";
import { loadSources, SHIPPED_SOURCES } from "./source/load-sources.js";
import type { RedirectedOrigins } from "./source/redirected-origins.js";
import type { WebOraclePlan } from "./web-oracle/check-settings.js";

const address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const sources = loadSources([SHIPPED_SOURCES]);

function deployment(change: Partial<Deployment["datasets"][number]> = {}): Deployment {
  const keys = ["ETH-USD", "BTC-USD", "NOSUCH-USD"].map(spotPriceKey);
  return {
    chainId: 42,
    datasets: [{ name: "financial", address, kind: "median", keyForm: "SPOT_PRICE", keys, ...change }],
  };
}

function serve(one: Deployment, minSources = 2) {
  const dataset = decideServed([one], sources, minSources, {}).get(42)?.get(address);
  return { keys: [...(dataset?.keys.keys() ?? [])], unserved: dataset?.unservedKeys };
}

describe("a provider serves", () => {
  it("the keys that enough sources know", () => {
    expect(serve(deployment())).toEqual({
      keys: [spotPriceKey("ETH-USD"), spotPriceKey("BTC-USD")],
      unserved: ["SPOTPX/NOSUCH-USD"],
    });
  });

  it("nothing, when more sources are needed than there are", () => {
    expect(serve(deployment(), 9).keys).toEqual([]);
  });

  it("a converted price only where its rate has enough sources of its own", () => {
    const found = (names: string[], minSources: number) =>
      pairSources(
        "ETH-USD",
        sources.filter(({ name }) => names.includes(name)),
        minSources,
        {},
      ).map(({ name, rate }) => [name, rate?.pair ?? null, rate?.sources.map((source) => source.name) ?? []]);
    expect(found(["okx", "kraken", "gemini"], 2)).toEqual([
      ["gemini", null, []],
      ["kraken", null, []],
      ["okx", "USDT-USD", ["gemini", "kraken"]],
    ]);
    expect(found(["okx", "kucoin", "kraken"], 2)).toEqual([["kraken", null, []]]);
  });

  it("no price to a dataset that takes a majority of equal values", () => {
    expect(serve(deployment({ kind: "majority" })).keys).toEqual([]);
  });

  it("no listed Web Oracle key by itself: they are found when they are asked for", () => {
    const dataset = deployment({ keyForm: "WEB_ORACLE", keys: [stringToHex(`WEB/${"0".repeat(64)}`)] });
    expect(serve(dataset)).toEqual({ keys: [], unserved: [] });
  });
});

describe("a start", () => {
  const redirectedOrigins = { "https://api.kraken.com": "http://127.0.0.1:9000/kraken" };
  const served = decideServed([deployment()], sources, 2, redirectedOrigins);
  const web = decideServed([deployment({ keyForm: "WEB_ORACLE", keys: [] })], sources, 2, {});
  const plan = {
    registries: [],
    folder: "/specs",
    hosts: ["api.example.com"],
    rateLimitOf: () => ({ perSecond: 1, burst: 1 }),
  };

  const account = fromPrivateKey(`0x${"11".repeat(32)}`);
  const notes = (served: Served, webOracle: WebOraclePlan | null, redirectedOrigins: RedirectedOrigins) =>
    listNotes({ config: { ...Value.Create(ProviderConfig), redirectedOrigins }, served, webOracle });

  it("says what is not served, and what is not real", () => {
    expect(notes(served, null, redirectedOrigins)).toEqual([
      "DEVELOPMENT ONLY: http://127.0.0.1:9000/kraken is asked instead of https://api.kraken.com. The signed prices are not real.",
      `${address} on network 42: these keys have too few sources and are not served: SPOTPX/NOSUCH-USD.`,
    ]);
    expect(summarize({ served: served, webOracle: null, account })).toBe(
      `Provider ${account.address} serves network 42: 2 keys of 1 datasets.`,
    );
  });

  it("says whether the Web Oracle is served, and how far it may reach", () => {
    expect(notes(web, null, {})).toEqual([expect.stringContaining("because webOracle is not set")]);
    expect(notes(web, plan, {})).toEqual([]);
    expect(notes(web, { ...plan, hosts: "any" }, {})).toEqual([expect.stringContaining("every public host")]);
    expect(summarize({ served: web, webOracle: plan, account })).toContain(
      "all keys of 1 Web Oracle datasets that ask 1 hosts",
    );
  });

  it("needs something to serve", () => {
    expect(() => requireKeys(served, 2, false)).not.toThrow();
    expect(() => requireKeys(web, 2, true)).not.toThrow();
    expect(() => requireKeys(web, 2, false)).toThrow("No key of the deployments has 2 sources");
  });
});
