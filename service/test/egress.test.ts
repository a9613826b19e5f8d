import { Egress } from "@dataset-oracle/service/egress/egress";
import { Secrets } from "@dataset-oracle/service/egress/secrets";
import type { buildConnector } from "undici";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type HostileServer, startHostileServer } from "./support/hostile-server.js";

const LIMITS = { timeoutMs: 2_000, maxBytes: 1024 * 1024 };
const API = "https://api.example.com";
const TOKEN = "s3cret/token+value";

let server: HostileServer;

beforeAll(async () => {
  server = await startHostileServer();
});

afterAll(() => server.close());

function open(options: { secrets?: Secrets; dial?: buildConnector.connector; addresses?: string[] } = {}): Egress {
  const { secrets = Secrets.NONE, dial = server.dial, addresses = ["93.184.215.14"] } = options;
  const egress = new Egress({ secrets, dial, resolve: async () => addresses });
  onTestFinished(() => egress.close());
  return egress;
}

const get = (egress: Egress, path: string, timeoutMs = LIMITS.timeoutMs) =>
  egress.fetchText({ url: `${API}${path}`, method: "GET" }, { ...LIMITS, timeoutMs });

describe("an answer", () => {
  it.each(["gzip", "deflate", "br"])("of 64 MiB, compressed as %s, is aborted after 1 MiB", async (coding) => {
    // The hostile server compresses it in this process the first time.
    await get(open(), `/bomb/${coding}`);
    const before = process.memoryUsage().arrayBuffers;
    expect(await get(open(), `/bomb/${coding}`)).toMatchObject({ ok: false, error: { code: "too_large" } });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  });

  it("without an end is aborted after 1 MiB", async () => {
    expect(await get(open(), "/endless")).toMatchObject({ ok: false, error: { code: "too_large" } });
  });

  it("that does not arrive is aborted after the deadline", async () => {
    const start = performance.now();
    expect(await get(open(), "/silent", 200)).toMatchObject({ ok: false, error: { code: "timeout" } });
    expect(performance.now() - start).toBeLessThan(1_500);
  });
});

describe("a connection", () => {
  it("is made to the host's next address when the first does not answer", async () => {
    const dialled: string[] = [];
    const dial: buildConnector.connector = (options, callback) => {
      dialled.push(options.hostname);
      if (dialled.length === 1) callback(new Error("refused"), null);
      else server.dial(options, callback);
    };
    const egress = open({ dial, addresses: ["93.184.215.14", "93.184.215.15"] });
    expect(await get(egress, "/json")).toMatchObject({ ok: true });
    expect(dialled).toEqual(["93.184.215.14", "93.184.215.15"]);
  });

  it("that is never established is aborted after the deadline", async () => {
    expect(await get(open({ dial: () => {} }), "/json", 200)).toMatchObject({ ok: false, error: { code: "timeout" } });
  });
});

describe("requests to one host", () => {
  it("have no more than 16 connections at once", async () => {
    const egress = open();
    const before = server.requests.length;
    // The waiting requests time out first, because no connection becomes free for them.
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => get(egress, "/silent", i < 16 ? 3_000 : 500)),
    );
    expect(answers).toEqual(
      Array(20).fill(expect.objectContaining({ error: expect.objectContaining({ code: "timeout" }) })),
    );
    expect(server.requests.length - before).toBe(16);
    expect(await get(egress, "/json")).toMatchObject({ ok: true });
  });

  it("are refused when 512 are in flight or waiting", async () => {
    const egress = open();
    const before = server.requests.length;
    const answers = await Promise.all(
      Array.from({ length: 514 }, (_, i) => get(egress, "/silent", i < 16 ? 5_000 : 2_000)),
    );
    expect(answers.filter((answer) => !answer.ok && answer.error.code === "busy")).toHaveLength(2);
    expect(server.requests.length - before).toBe(16);
    expect(await get(egress, "/json")).toMatchObject({ ok: true });
  });
});

it("hosts that keep their connections open do not keep others from being asked", async () => {
  const egress = open();
  for (let i = 0; i < 2_100; i += 50) {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, j) =>
        egress.fetchText({ url: `https://host-${i + j}.example.com/json`, method: "GET" }, LIMITS),
      ),
    );
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
  }
});

it("a redirected origin is requested on this machine, without its secrets", async () => {
  const secrets = Secrets.load([{ host: "api.example.com", header: "x-key", env: "KEY" }], { KEY: TOKEN });
  const egress = new Egress({ redirectedOrigins: { [API]: `http://127.0.0.1:${server.port}/echo` }, secrets });
  onTestFinished(() => egress.close());
  const answer = await get(egress, "/path?a=b");
  expect(answer).toMatchObject({ ok: true });
  const sent = JSON.parse(answer.ok ? answer.value.text : "");
  expect(sent.url).toBe("/echo/path?a=b");
  expect(sent.headers).not.toHaveProperty("x-key");
});
