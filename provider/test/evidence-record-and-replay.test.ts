import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { EXCHANGES, marketRedirects } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { replay } from "../src/evidence/replay.js";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { type FakeExchanges, json, startFakeExchanges } from "./support/fake-exchanges.js";
import { DATASET, startProvider } from "./support/test-provider.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evidence-"));
});

/** The decisions' files, the oldest first. */
const records = () =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => join(folder, file));

describe("with the market of the devnet, all exchanges and all pairs", () => {
  let market: Market;
  beforeAll(async () => {
    market = await startMarket({ seed: 3 });
  });
  afterAll(() => market.close());

  it("each answer says what was used, and its evidence is replayed into the same value", async () => {
    const keys = MARKET_PAIRS.map(({ pair }) => spotPriceKey(pair));
    const now = Math.floor(Date.now() / 1_000);
    const provider = await startProvider(
      { redirectedOrigins: marketRedirects(market.url), evidence: { folder, maxMegabytes: 100 }, minSources: 3 },
      {
        start: now - 1_000,
        sources: loadSources([SHIPPED_SOURCES]),
        deployments: [
          {
            chainId: 42,
            datasets: [{ name: "financial", address: DATASET, kind: "median", keyForm: "SPOT_PRICE", keys }],
          },
        ],
      },
    );
    const answers = await Promise.all(keys.map((key) => provider.ask({ key })));
    await provider.close();
    for (const { body } of answers) {
      expect(body.outcome).toBe("OK");
      expect(body.sources.length).toBeGreaterThanOrEqual(3);
      expect(body.sources.filter(({ used }: { used: boolean }) => !used)).toEqual([]);
    }
    const ethUsd = answers[keys.indexOf(spotPriceKey("ETH-USD"))]?.body;
    const listed = loadSources([SHIPPED_SOURCES]).filter(({ queries }) => queries.has("ETH-USD"));
    expect(ethUsd.sources.map(({ name }: { name: string }) => name)).toEqual(listed.map(({ name }) => name));
    for (const { name, quote_time } of ethUsd.sources) {
      const hasTime = listed.find((source) => source.name === name)?.spec.quoteTime !== undefined;
      expect(quote_time !== null, name).toBe(hasTime);
    }

    const files = records();
    expect(files).toHaveLength(keys.length);
    for (const file of files) {
      const { record, decision, isSame } = await replay(file);
      expect(isSame, file).toBe(true);
      const signed = answers.find(({ body }) => body.key === record.key)?.body;
      expect(decision).toEqual({ value: signed.value, outcome: signed.outcome });
    }
    // Each spec and each exchange's answer for all pairs once, and Coinbase's for each pair.
    const stored = readdirSync(join(files[0] ?? "", "..")).filter((file) => file.endsWith(".gz"));
    expect(stored.length).toBeLessThanOrEqual(EXCHANGES.length * 3 + keys.length * 2);
  });
});

describe("evidence", () => {
  let exchanges: FakeExchanges;
  beforeAll(async () => {
    exchanges = await startFakeExchanges();
  });
  afterAll(() => exchanges.close());
  const run = async (change: () => void = () => {}) => {
    exchanges.quote("2000", "2001", "2500");
    change();
    const provider = await startProvider({
      redirectedOrigins: exchanges.redirectedOrigins,
      evidence: { folder, maxMegabytes: 1 },
    });
    const { body } = await provider.ask();
    await provider.close();
    return body;
  };

  it("of a price with an outlier and of no price is replayed too, and the answer says why", async () => {
    const body = await run();
    expect(body.sources).toEqual([
      {
        name: "bitstamp",
        value: `2500${"0".repeat(18)}`,
        quote_time: 1_800_001_000,
        used: false,
        reason: "outlier: lies more than 200 basis points from the median",
      },
      { name: "coinbase", value: `2000${"0".repeat(18)}`, quote_time: 1_800_001_000, used: true, reason: null },
      { name: "kraken", value: `2001${"0".repeat(18)}`, quote_time: null, used: true, reason: null },
    ]);
    expect((await replay(records()[0] ?? "")).isSame).toBe(true);

    folder = mkdtempSync(join(tmpdir(), "evidence-"));
    const none = await run(() => {
      exchanges.behave("coinbase", json('{"message":"ü\\u0007"}', 500));
      exchanges.behave("kraken", (response) => response.destroy());
    });
    expect(none).toMatchObject({
      outcome: "NOT_AVAILABLE",
      sources: [{ used: true }, { used: false }, { used: false }],
    });
    const again = await replay(records()[0] ?? "");
    expect(again).toMatchObject({
      isSame: true,
      decision: { outcome: "NOT_AVAILABLE" },
      value: {
        sources: [{ dropped: null }, { dropped: { code: "http_status" } }, { dropped: { code: "unreachable" } }],
      },
    });
  });

  it("that was altered is detected", async () => {
    await run();
    const file = records()[0] ?? "";
    const record = JSON.parse(readFileSync(file, "utf8"));
    const altered = (change: object) => {
      writeFileSync(file, JSON.stringify({ ...record, ...change }));
      return replay(file);
    };
    const wrong = await altered({ value: `0x${"0".repeat(63)}1` });
    expect(wrong).toMatchObject({ isSame: false, decision: { value: record.value } });
    expect((await altered({ at: "1800009999" })).isSame).toBe(false);
    await expect(altered({ answers: record.answers.slice(1) })).rejects.toThrow("it has no answer from");
    await expect(altered({ surprise: 1 })).rejects.toThrow("/surprise");
    await altered({});
    const stored = join(file, "..", `${record.answers[0].text}.gz`);
    writeFileSync(stored, gzipSync("{}"));
    await expect(replay(file)).rejects.toThrow("it was changed");
    writeFileSync(stored, gzipSync("x".repeat(5_000_000)));
    await expect(replay(file)).rejects.toThrow("cannot be read: ERR_BUFFER_TOO_LARGE");
  });
});
