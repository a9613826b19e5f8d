import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { EvidenceAnswer } from "@dataset-oracle/protocol/http-schemas/evidence";
import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { Value } from "@sinclair/typebox/value";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { DataPoint } from "../src/data-point.js";
import { addEvidenceRoute } from "../src/evidence/evidence-route.js";
import { EvidenceStore, type FreshValue } from "../src/evidence/evidence-store.js";
import { replay } from "../src/evidence/replay.js";
import { noEvidence } from "../src/problems.js";
import { findServedDatasets } from "../src/served-keys.js";
import { loadSources, SHIPPED_SOURCES } from "../src/source/load-sources.js";
import { type FakeExchanges, json, startFakeExchanges } from "./support/fake-exchanges.js";
import { runProvider } from "./support/provider-process.js";
import {
  ACCOUNT,
  DATASET,
  DEPLOYMENTS,
  ETH_USD,
  request,
  startProvider,
  type TestProvider,
} from "./support/test-provider.js";

let exchanges: FakeExchanges;
let folder: string;
beforeAll(async () => {
  exchanges = await startFakeExchanges();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "evidence-"));
});
afterAll(() => exchanges.close());

async function start(evidence: object | null = { public: true }, settings: object = {}): Promise<TestProvider> {
  exchanges.quote("2000", "2001", "2500");
  const provider = await startProvider({
    redirectedOrigins: exchanges.redirectedOrigins,
    evidence: evidence && { folder, maxMegabytes: 100, ...evidence },
    ...settings,
  });
  onTestFinished(() => provider.close());
  return provider;
}

async function ask({ url }: Pick<TestProvider, "url">, body: unknown, signal = AbortSignal.timeout(5_000)) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/evidence`, { method: "POST", headers, body: JSON.stringify(body), signal });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

/** Asks until the evidence is written, which is after the report. */
async function askWritten(provider: TestProvider, body: unknown) {
  await expect.poll(async () => (await ask(provider, body)).status).toBe(200);
  return ask(provider, body);
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

describe("POST /evidence", () => {
  it("answers with all that a signed value was made of, and the saved answer is replayed into that value", async () => {
    const provider = await start();
    const report = (await provider.ask()).body;
    const { body } = await askWritten(provider, request(report.timestamp));
    expect(Value.Check(EvidenceAnswer, body)).toBe(true);
    expect(body).toMatchObject({
      provider: ACCOUNT.address,
      record: { kind: "spot_price", key: ETH_USD, timestamp: report.timestamp, value: report.value, outcome: "OK" },
    });
    expect(body.record.sources).toEqual(report.sources);
    expect(body.record.answers).toHaveLength(3);
    for (const { text } of body.record.answers) expect(hashOf(body.texts[text])).toBe(text);

    const file = join(folder, "answer.json");
    writeFileSync(file, JSON.stringify(body));
    const { code, stdout } = await runProvider(["replay", file]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { is_same: true, value: BigInt(report.value).toString() }]);
  });

  it("gives an answer that replay rejects once it was changed", async () => {
    const provider = await start();
    const { timestamp } = (await provider.ask()).body;
    const { body } = await askWritten(provider, request(timestamp));
    const file = join(folder, "answer.json");
    const replayed = (change: object) => {
      writeFileSync(file, JSON.stringify({ ...body, ...change }));
      return replay(file);
    };
    expect((await replayed({})).isSame).toBe(true);
    const [first, ...others] = body.record.sources;
    const sources = [{ ...first, used: !first.used }, ...others];
    expect((await replayed({ record: { ...body.record, sources } })).isSame).toBe(false);
    const [hash, ...rest] = Object.keys(body.texts);
    const texts = Object.fromEntries(rest.map((each) => [each, body.texts[each]]));
    await expect(replayed({ texts })).rejects.toThrow("it has no text with the SHA-256");
    await expect(replayed({ texts: { ...texts, [hash ?? ""]: "{}" } })).rejects.toThrow("it was changed");
    await expect(replayed({ record: { ...body.record, surprise: 1 } })).rejects.toThrow("/surprise");
    await expect(replayed({ surprise: 1 })).rejects.toThrow("/surprise");
  });

  it("says that there is none for a round that was not decided, another key, and a file that is not the decision's", async () => {
    const provider = await start();
    const { timestamp } = (await provider.ask()).body;
    const asked = request(timestamp);
    await askWritten(provider, asked);
    const none = { status: 404, body: { code: "no_evidence" } };
    expect(await ask(provider, { ...asked, timestamp: timestamp - 1 })).toMatchObject(none);
    expect(await ask(provider, { ...asked, timestamp: 0 })).toMatchObject(none);
    expect(await ask(provider, { ...asked, network_id: 43 })).toMatchObject(none);
    expect(await ask(provider, { ...asked, key: "0x2e2e2f2e2e2f" })).toMatchObject(none);

    // A file that has the name of another key's evidence, and a link to evidence.
    const [minute = ""] = readdirSync(join(folder, "spot-prices"));
    const own = join(folder, "spot-prices", minute);
    const [record = ""] = readdirSync(own).filter((name) => name.endsWith(".json"));
    const other = record.replace(hashOf(ETH_USD).slice(0, 16), hashOf("0x00").slice(0, 16));
    symlinkSync(join(own, record), join(own, other));
    expect(await ask(provider, { ...asked, key: "0x00" })).toMatchObject(none);
  });

  it("takes nothing that could name a file: only served datasets, whole numbers and hex", async () => {
    const provider = await start();
    writeFileSync(join(folder, "secret.json"), "{}");
    const asked = request(provider.clock.now);
    const codes: [object, number, string][] = [
      [{ dataset: "../../secret" }, 400, "invalid_body"],
      [{ dataset: `0x${"00".repeat(20)}` }, 404, "unknown_dataset"],
      [{ network_id: 7 }, 422, "unknown_network"],
      [{ key: "0x../.." }, 400, "invalid_body"],
      [{ key: "../../secret.json" }, 400, "invalid_body"],
      [{ timestamp: "../../secret" }, 400, "invalid_body"],
      [{ timestamp: 1.5 }, 400, "invalid_body"],
      [{ timestamp: -1 }, 400, "invalid_body"],
      [{ file: "secret.json" }, 400, "invalid_body"],
    ];
    for (const [change, status, code] of codes) {
      expect(await ask(provider, { ...asked, ...change }), JSON.stringify(change)).toMatchObject({
        status,
        body: { code },
      });
    }
  });

  it("shows nothing unless the owner made evidence public", async () => {
    for (const evidence of [null, {}, { public: false }]) {
      const provider = await start(evidence);
      const { timestamp } = (await provider.ask()).body;
      expect(await ask(provider, request(timestamp))).toMatchObject({
        status: 404,
        body: { code: "evidence_not_public" },
      });
    }
  });

  it("has a limit for each caller, and for all anonymous callers together; operators have their own", async () => {
    const provider = await start({ public: true }, { operators: ["127.0.0.9"], trustedProxies: ["127.0.0.1"] });
    const statuses = async (callers: string[]) =>
      Promise.all(
        callers.map(async (caller) => {
          const headers = { "content-type": "application/json", "x-forwarded-for": caller };
          const body = JSON.stringify(request(provider.clock.now));
          const response = await fetch(`${provider.url}/evidence`, { method: "POST", headers, body });
          return ((await response.json()) as { code: string }).code;
        }),
      );
    const count = (codes: string[]) => codes.filter((code) => code === "too_many_requests").length;
    const many = (caller: string, times: number) => Array.from({ length: times }, () => caller);
    expect(count(await statuses(many("192.0.2.1", 31)))).toBe(1);
    expect(count(await statuses(Array.from({ length: 100 }, (_, i) => `198.51.100.${i}`)))).toBe(10);
    expect(await statuses(many("127.0.0.9", 40))).toEqual(many("no_evidence", 40));
    // Reports have limits of their own.
    expect((await provider.ask({}, { "x-forwarded-for": "192.0.2.1" })).status).toBe(200);
  });

  it("answers four anonymous callers at a time, and frees the places of those that leave", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let entered = 0;
    const find = async () => {
      entered++;
      await held;
      throw noEvidence(1);
    };
    const stores = { spot_price: { find }, web_oracle: { find } };
    const served = findServedDatasets(DEPLOYMENTS, loadSources([SHIPPED_SOURCES]), 1, {});
    const limits = { requestsPerMinute: 1_000, maxConnections: 100, trustedProxies: [] };
    const app = await buildApp({ logger: pino({ level: "silent" }), ...limits });
    await app.register(async (scope) =>
      addEvidenceRoute(scope as unknown as App, {
        stores,
        served,
        provider: ACCOUNT.address,
        isOperator: () => false,
      }),
    );
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    onTestFinished(() => app.close());
    const leaving = new AbortController();
    const four = Array.from({ length: 4 }, () =>
      fetch(`${url}/evidence`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(request(0)),
        signal: leaving.signal,
      }).catch(() => null),
    );
    await expect.poll(() => entered).toBe(4);
    const codeOf = async () => (await ask({ url }, request(0), AbortSignal.timeout(200)).catch(() => null))?.body.code;
    await expect.poll(codeOf).toBe("evidence_busy");
    leaving.abort();
    await Promise.all(four);
    // A place is free: the request now waits instead of being refused.
    await expect.poll(codeOf).toBe(undefined);
    release();
    await expect.poll(codeOf).toBe("no_evidence");
  });

  it("refuses to send more than 4 MiB of answers", async () => {
    const provider = await start();
    exchanges.behave("kraken", json(`{"error":[],"result":{"x":"${"y".repeat(1_000_000)}"}}`));
    const { timestamp } = (await provider.ask()).body;
    const asked = request(timestamp);
    const { body } = await askWritten(provider, asked);
    expect(JSON.stringify(body).length).toBeGreaterThan(1_000_000);
    const [minute = ""] = readdirSync(join(folder, "spot-prices"));
    const { text } = body.record.answers[0];
    writeFileSync(join(folder, "spot-prices", minute, `${text}.gz`), gzipSync("x".repeat(4 * 1024 * 1024)));
    expect(await ask(provider, asked)).toMatchObject({ status: 422, body: { code: "evidence_too_large" } });
  });
});

describe("evidence that is shown", () => {
  const spec = { title: "An echo", variables: [], sources: [], minSources: 1, combine: "median" };
  const dataPoint = {
    dataset: { chainId: 42, address: DATASET, kind: "median" },
    key: { kind: "web_oracle", key: "0x00", compiled: { spec } },
  } as unknown as DataPoint;
  const DECISION = { outcome: "OK", value: `0x${"00".repeat(32)}` } as const;
  const open = () =>
    EvidenceStore.open({
      folder,
      maxBytes: 10_000_000,
      policy: { minSources: 1, maxDeviationBps: 1, maxQuoteAge: 1 },
      redirectedOrigins: {},
      logger: pino({ level: "silent" }),
    });
  const valueAt = (at: bigint, answers: FreshValue["answers"]): FreshValue => ({
    dataPoint,
    value: { kind: "none", reason: "", sources: [] },
    at,
    answers,
  });

  it("is whole for a slow reading that is written after a faster one of the next minute", async () => {
    const answered = (text: string): FreshValue["answers"] => {
      const reading = Promise.resolve({ ok: true, value: { text } } as const);
      const request = { method: "GET", url: "https://api.example.com/", rateLimit: null } as const;
      return new Map([["id", { request, reading }]]);
    };
    const store = await open();
    const minute = 1_799_999_940n;
    const readings: [at: bigint, text: string][] = [
      [minute, "one"],
      [minute + 60n, "two"],
      [minute + 1n, "two"],
      [minute + 2n, "three"],
      [minute + 61n, "three"],
    ];
    for (const [at, text] of readings) store.keep(valueAt(at, answered(text)), at, DECISION);
    await store.close();
    for (const [at, text] of readings) {
      const { texts } = await store.find({ chainId: 42, address: DATASET }, "0x00", at);
      expect(Object.values(texts), String(at)).toContain(text);
    }
  });

  it("is only what a store wrote itself", async () => {
    const store = await open();
    const at = 1_800_000_000n;
    store.keep(valueAt(at, new Map()), at, DECISION);
    await store.close();
    const minute = join(folder, String(at - (at % 60n)));
    const [name = ""] = readdirSync(minute).filter((file) => file.endsWith(".json"));
    writeFileSync(join(minute, name), JSON.stringify({ kind: "web_oracle", answers: [{ text: "../../secret" }] }));
    for (const round of [at, at + 1_000n]) {
      const found = store.find({ chainId: 42, address: DATASET }, "0x00", round);
      await expect(found).rejects.toMatchObject({ code: "no_evidence" });
    }
  });
});
