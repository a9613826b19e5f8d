import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { EXCHANGES, marketRedirects } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { type Market, startMarket } from "@dataset-oracle/devnet/simulated-market/server";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import type { RequestSpec } from "@dataset-oracle/protocol/request-spec";
import { Egress } from "@dataset-oracle/service/egress/egress";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EvidenceStore, type FreshValue, RecordingReader } from "../src/evidence/evidence-store.js";
import { replay } from "../src/evidence/replay.js";
import type { DataPoint } from "../src/served-keys.js";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { SourceReader } from "../src/source/source-reader.js";
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

const POLICY = { minSources: 1, maxDeviationBps: 1, maxQuoteAge: 1 };

/** As much of a value as evidence contains, for a key that is not served. */
const freshValue = (key: object, answers: FreshValue["answers"] = new Map()) => ({
  dataPoint: { dataset: { chainId: 42, address: DATASET }, key: { key: "0x00", ...key } } as unknown as DataPoint,
  value: { kind: "none", reason: "", sources: [] } as const,
  at: 1_800_000_000n,
  answers,
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
    const write = (change: object) => writeFileSync(file, JSON.stringify({ ...record, ...change }));
    write({ value: `0x${"0".repeat(63)}1` });
    expect(await replay(file)).toMatchObject({ isSame: false, decision: { value: record.value } });
    write({ at: "1800009999" });
    expect((await replay(file)).isSame).toBe(false);
    write({ answers: record.answers.slice(1) });
    await expect(replay(file)).rejects.toThrow("it has no answer from");
    write({ surprise: 1 });
    await expect(replay(file)).rejects.toThrow("/surprise");
    write({});
    const stored = join(file, "..", `${record.answers[0].text}.gz`);
    writeFileSync(stored, gzipSync("{}"));
    await expect(replay(file)).rejects.toThrow("it was changed");
    writeFileSync(stored, gzipSync("x".repeat(5_000_000)));
    await expect(replay(file)).rejects.toThrow("cannot be read: ERR_BUFFER_TOO_LARGE");
  });

  it("keeps the newest that fit", async () => {
    const minutes = Array.from({ length: 5 }, (_, i) => String(1_799_999_940 - i * 60));
    for (const minute of minutes) {
      mkdirSync(join(folder, "spot-prices", minute), { recursive: true });
      writeFileSync(join(folder, "spot-prices", minute, "old.gz"), Buffer.alloc(400_000));
    }
    await run();
    expect(readdirSync(join(folder, "spot-prices")).toSorted()).toEqual(["1799999880", "1799999940", "1800000960"]);
  });

  it("neither holds nor shows a secret, though an API repeats what it was sent", async () => {
    const token = "s3cret/token+value";
    const received: IncomingMessage[] = [];
    const api = createServer((request, response) => {
      received.push(request);
      const { url, headers } = request;
      response.setHeader("content-type", "application/json").end(JSON.stringify({ url, headers }));
    });
    await new Promise<void>((listening) => api.listen(0, "127.0.0.1", listening));
    const { port } = api.address() as AddressInfo;
    const host = "api.example.com";
    const egress = new Egress({
      secrets: Secrets.load(
        [
          { host, header: "x-key", env: "KEY" },
          { host, query: "apikey", env: "KEY" },
        ],
        { KEY: token },
      ),
      resolve: async () => ["93.184.215.14"],
      dial: (_, callback) => {
        const socket = connect(port, "127.0.0.1");
        socket.once("connect", () => callback(null, socket)).once("error", (error) => callback(error, null));
      },
    });
    const now = () => 1_800_000_000n;
    const reader = new RecordingReader(new SourceReader({ egress, timeoutMs: 10_000, hasReserve: false, now }));
    const read = await reader.read({ method: "GET", url: `https://${host}/`, rateLimit: null }, false);
    expect(read.ok).toBe(true);
    expect([received[0]?.headers["x-key"], received[0]?.url]).toEqual([token, `/?apikey=${encodeURIComponent(token)}`]);

    const evidence = await EvidenceStore.open({
      folder,
      maxBytes: 1_000_000,
      policy: POLICY,
      redirectedOrigins: {},
      logger: pino(),
    });
    const spec: RequestSpec = { title: "An echo", variables: [], sources: [], minSources: 1, combine: "median" };
    const value = freshValue({ kind: "web_oracle", compiled: { spec } }, reader.answers);
    evidence.keep(value, now(), { outcome: "OK", value: ZERO_VALUE });
    await evidence.close();
    await egress.close();
    api.close();
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
    const kept = files.flatMap((file) => {
      if (file.endsWith(".json")) return readFileSync(file, "utf8");
      return file.endsWith(".gz") ? gunzipSync(readFileSync(file)).toString("utf8") : [];
    });
    expect(kept).toHaveLength(3);
    expect(kept.join()).toContain('"x-key":"<secret>"');
    for (const form of [token, encodeURIComponent(token)]) expect(kept.join()).not.toContain(form);
  });

  it("that cannot be written is logged and does not prevent signing", async () => {
    const logs: string[] = [];
    const logger = pino({}, { write: (line: string) => void logs.push(line) });
    const evidence = await EvidenceStore.open({ folder, maxBytes: 1, policy: POLICY, redirectedOrigins: {}, logger });
    writeFileSync(join(folder, "1800000000"), "no folder");
    evidence.keep(freshValue({ kind: "spot_price", sources: [] }), 1n, { outcome: "OK", value: "0x00" });
    await evidence.close();
    expect(logs.join()).toContain("evidence not written");
  });
});
