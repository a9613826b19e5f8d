import { spotPriceKey } from "@dataset-oracle/protocol/key";
import type { Deployment } from "@dataset-oracle/service/deployment";
import { stringToHex } from "viem";
import { describe, expect, it } from "vitest";
import { decideServed, pairSources, requireKeys } from "./served.js";
import { loadSources, SHIPPED_SOURCES } from "./source/load-sources.js";
import { startNotes, summary } from "./start-notes.js";

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
  const overrides = { "https://api.kraken.com": "http://127.0.0.1:9000/kraken" };
  const served = decideServed([deployment()], sources, 2, overrides);
  const web = decideServed([deployment({ keyForm: "WEB_ORACLE", keys: [] })], sources, 2, {});
  const plan = {
    registries: [],
    folder: "/specs",
    hosts: ["api.example.com"],
    rateLimitOf: () => ({ perSecond: 1, burst: 1 }),
  };

  it("says what is not served, and what is not real", () => {
    expect(startNotes(served, null, overrides)).toEqual([
      "DEVELOPMENT ONLY: https://api.kraken.com is not asked, but http://127.0.0.1:9000/kraken. The prices signed are not real.",
      `Too few sources, so not served of ${address} on network 42: SPOTPX/NOSUCH-USD.`,
    ]);
    expect(summary(served, null, address)).toBe(`Provider ${address} serves network 42: 2 keys of 1 datasets.`);
  });

  it("says whether the Web Oracle is served, and how far it may reach", () => {
    expect(startNotes(web, null, {})).toEqual([expect.stringContaining("there is no setting webOracle")]);
    expect(startNotes(web, plan, {})).toEqual([]);
    expect(startNotes(web, { ...plan, hosts: "any" }, {})).toEqual([expect.stringContaining("any public host")]);
    expect(summary(web, plan, address)).toContain("all keys of 1 Web Oracle datasets that ask 1 hosts");
  });

  it("needs something to serve", () => {
    expect(() => requireKeys(served, 2, false)).not.toThrow();
    expect(() => requireKeys(web, 2, true)).not.toThrow();
    expect(() => requireKeys(web, 2, false)).toThrow("No key of the deployments has 2 sources");
  });
});
