import { EXCHANGE_ORIGINS, EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { SourceReader } from "../src/source/source-reader.js";

const SOURCES = new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));

describe("the market of the devnet", () => {
  let market: Market;
  let egress: Egress;
  beforeAll(async () => {
    market = await startMarket({ seed: 8 });
    const origins = Object.entries(EXCHANGE_ORIGINS).map(([name, origin]) => [origin, `${market.url}/${name}`]);
    egress = new Egress({ redirectedOrigins: Object.fromEntries(origins) });
  });
  afterAll(async () => {
    await egress.close();
    await market.close();
  });

  it.each(EXCHANGES)("answers for every pair that is read from %s", async (name) => {
    const reader = new SourceReader({ egress, timeoutMs: 10_000, hasReserve: false, now: () => 0n });
    for (const [pair, { request, read }] of SOURCES.get(name)?.queries ?? []) {
      const answer = await reader.read({ ...request, rateLimit: null }, false);
      const reading = answer.ok ? read(answer.value.document) : answer;
      expect(reading, pair).toMatchObject({ ok: true });
      const start = MARKET_PAIRS.find((listed) => listed.pair === pair)?.start ?? "1";
      if (reading.ok) expect(Math.abs(Number(reading.value.value) / 1e18 / Number(start) - 1), pair).toBeLessThan(0.05);
    }
  });
});
