import { setMaxListeners } from "node:events";
import { isIP, type Socket } from "node:net";
import type { buildConnector } from "undici";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startHostileServer } from "../../test/support/hostile-server.js";
import { guardedConnector } from "./connector.js";
import { Egress } from "./egress.js";
import { Secrets } from "./secrets.js";

const LIMITS = { timeoutMs: 60_000, maxBytes: 1024 * 1024 };
const API = "https://api.example.com";
const TOKEN = "s3cret/token+value";

const server = await startHostileServer();
afterAll(() => server.close());

function open(options: { secrets?: Secrets; dial?: buildConnector.connector; addresses?: string[] } = {}): Egress {
  const { secrets = Secrets.NONE, dial = server.dial, addresses = ["93.184.215.14"] } = options;
  const egress = new Egress(
    secrets,
    {},
    guardedConnector(async () => addresses, dial),
  );
  onTestFinished(() => egress.close());
  return egress;
}

const get = (egress: Egress, path: string, timeoutMs = LIMITS.timeoutMs) =>
  egress.fetchText({ url: `${API}${path}`, method: "GET" }, { ...LIMITS, timeoutMs });

describe("an answer", () => {
  test("of 64 MiB, compressed, is aborted after 1 MiB", async () => {
    const before = process.memoryUsage().arrayBuffers;
    expect(await get(open(), "/bomb")).toMatchObject({ ok: false, error: { code: "too_large" } });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  });

  test("without an end is aborted after 1 MiB", async () => {
    expect(await get(open(), "/endless")).toMatchObject({ ok: false, error: { code: "too_large" } });
  });

  test("without an end that is almost no body is aborted, and the connection is closed", async () => {
    expect(await get(open(), "/extensions")).toMatchObject({ ok: false, error: { code: "unreachable" } });
  });

  test("that does not arrive is aborted after the deadline", async () => {
    expect(await get(open(), "/silent", 200)).toMatchObject({ ok: false, error: { code: "timeout" } });
  });
});

describe("a request", () => {
  const charged = async (path: string, allowance: number, readsOnlyOk = true) => {
    let spent = 0;
    const spend = (bytes: number) => {
      spent += bytes;
      return spent <= allowance;
    };
    const answer = await open().fetchText({ url: `${API}${path}`, method: "GET", readsOnlyOk, spend }, LIMITS);
    return { answer, spent };
  };
  const MEBIBYTE = 1024 * 1024;

  test("is charged for each part of a body as it arrives, whatever becomes of it, and ends with the allowance", async () => {
    const whole = await charged("/bomb", Infinity);
    expect(whole.answer).toMatchObject({ ok: false, error: { code: "too_large" } });
    expect(whole.spent).toBeGreaterThan(MEBIBYTE);
    const cut = await charged("/bomb", 300_000);
    expect(cut.answer).toMatchObject({ ok: false, error: { code: "busy" } });
    expect(cut.spent).toBeLessThan(MEBIBYTE / 2);
  });

  test("is charged for the chunks of a body, because each takes time, and ends with the allowance", async () => {
    const whole = await charged("/crumbs", Infinity);
    expect(whole.answer).toMatchObject({ ok: true, value: { text: "1".repeat(50_000) } });
    expect(whole.spent).toBeGreaterThan(50_000 * 32);
    const cut = await charged("/crumbs", 300_000);
    expect(cut.answer).toMatchObject({ ok: false, error: { code: "busy" } });
    expect(cut.spent).toBeLessThan(400_000);
  });

  test("may leave the bodies of failures unread, and is not made without an allowance", async () => {
    const failing = await charged("/failing", Infinity);
    expect(failing.answer).toMatchObject({ ok: true, value: { status: 500, text: "" } });
    expect(failing.spent).toBe(64 * 1024);
    const read = await charged("/failing", Infinity, false);
    expect(read.answer).toMatchObject({ ok: false, error: { code: "too_large" } });
    const before = server.requests.length;
    expect((await charged("/json", 0)).answer).toMatchObject({ ok: false, error: { code: "busy" } });
    expect(server.requests.length).toBe(before);
  });
});

describe("a connection", () => {
  test("is made to the host's next address when the first does not answer", async () => {
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

  test.each([
    ["of IPv6 only", ["93.184.215.14", "93.184.215.15", "93.184.215.16", "2606:4700::1111"], "2606:4700::1111"],
    [
      "of IPv6 only, behind NAT64",
      ["93.184.215.14", "93.184.215.15", "93.184.215.16", "64:ff9b::5db8:d70e", "64:ff9b::5db8:d70f"],
      "64:ff9b::5db8:d70e",
    ],
    ["of IPv4 only", ["2606:4700::1111", "2606:4700::1112", "2606:4700::1113", "93.184.215.14"], "93.184.215.14"],
  ])("is made by a machine %s to a host with many addresses of both families", async (_, addresses, reached) => {
    const dialled: string[] = [];
    const dial: buildConnector.connector = (options, callback) => {
      dialled.push(options.hostname);
      if (isIP(options.hostname) === isIP(reached)) server.dial(options, callback);
      else callback(Object.assign(new Error("no route"), { code: "ENETUNREACH" }), null);
    };
    expect(await get(open({ dial, addresses }), "/json")).toMatchObject({ ok: true });
    expect(dialled.at(-1)).toBe(reached);
  });

  test("that is never established is aborted after the deadline", async () => {
    expect(await get(open({ dial: () => {} }), "/json", 200)).toMatchObject({ ok: false, error: { code: "timeout" } });
  });
});

test("requests to one host have no more than 16 connections at once, and are refused when 512 wait for an answer", async () => {
  const egress = open();
  const before = server.requests.length;
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const ask = () => {
    return egress.fetchText({ url: `${API}/silent`, method: "GET" }, LIMITS, ending.signal);
  };
  const waiting = Array.from({ length: 512 }, ask);
  for (const refused of [ask(), ask()]) expect(await refused).toMatchObject({ error: { code: "busy" } });
  await expect.poll(() => server.requests.length - before).toBe(16);
  ending.abort();
  const aborted = expect.objectContaining({ error: expect.objectContaining({ code: "aborted" }) });
  expect(await Promise.all(waiting)).toEqual(Array(512).fill(aborted));
  expect(server.requests.length - before).toBe(16);
  expect(await get(egress, "/json")).toMatchObject({ ok: true });
});

test("hosts that keep their connections open do not keep others from being asked", async () => {
  const sockets: Socket[] = [];
  const dial: buildConnector.connector = (options, callback) =>
    server.dial(options, (...result) => {
      if (result[1] !== null) sockets.push(result[1]);
      callback(...result);
    });
  const egress = open({ dial });
  for (let i = 0; i < 600; i += 50) {
    const hosts = Array.from({ length: 50 }, (_, j) => `https://host-${i + j}.example.com/json`);
    const answers = await Promise.all(hosts.map((url) => egress.fetchText({ url, method: "GET" }, LIMITS)));
    expect(answers.filter(({ ok }) => !ok)).toEqual([]);
  }
  await expect.poll(() => sockets.filter(({ destroyed }) => !destroyed)).toHaveLength(500);
});

test("a redirected origin is requested on this machine, without its secrets", async () => {
  const secrets = Secrets.load([{ host: "api.example.com", header: "x-key", env: "KEY" }], { KEY: TOKEN });
  const egress = new Egress(secrets, { redirectedOrigins: { [API]: `http://127.0.0.1:${server.port}/echo` } });
  onTestFinished(() => egress.close());
  const answer = await get(egress, "/path?a=b");
  expect(answer).toMatchObject({ ok: true });
  const sent = JSON.parse(answer.ok ? answer.value.text : "");
  expect(sent.url).toBe("/echo/path?a=b");
  expect(sent.headers).not.toHaveProperty("x-key");
});
