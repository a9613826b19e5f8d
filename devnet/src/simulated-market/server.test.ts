import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { EXCHANGES } from "../exchange-origins.js";

let market: Market;
beforeAll(async () => {
  market = await startMarket({ seed: 11 });
});
afterAll(async () => {
  await market.close();
});

async function get(path: string) {
  const response = await fetch(market.url + path);
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body };
}

describe("the simulated market", () => {
  test("has no exchange that the provider has no source file of", () => {
    const files = readdirSync(join(import.meta.dirname, "exchanges"));
    expect(files.toSorted()).toEqual(EXCHANGES.map((name) => `${name}.ts`).toSorted());
  });

  test("says in its root page and in every answer's header that it is simulated", async () => {
    const root = await get("/");
    expect(root.body.notice).toMatch(/^simulated/);
    const ticker = await get("/coinbase/products/ETH-USD/ticker");
    expect(ticker.headers.get("x-simulated")).toMatch(/^simulated/);
    const error = await get("/coinbase/products/NO-USD/ticker");
    expect(error.headers.get("x-simulated")).toMatch(/^simulated/);
  });

  test("moves its prices within two seconds, and a second market of the same seed starts with the same ones", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const fresh = await startMarket({ seed: 12 });
    const twin = await startMarket({ seed: 12 });
    try {
      const read = async (url: string) => {
        const response = await fetch(`${url}/coinbase/products/BTC-USD/ticker`);
        return ((await response.json()) as { price: string }).price;
      };
      const first = await read(fresh.url);
      expect(await read(twin.url)).toBe(first);
      vi.advanceTimersByTime(2_000);
      expect(await read(fresh.url)).not.toBe(first);
    } finally {
      await Promise.all([fresh.close(), twin.close()]);
      vi.useRealTimers();
    }
  });
});
