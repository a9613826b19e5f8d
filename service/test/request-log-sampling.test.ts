import { buildApp } from "@dataset-oracle/service/http-server/app";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { testContext } from "./support/test-context.js";

type LogLine = Readonly<Record<string, unknown>>;
type LoggedApp = Awaited<ReturnType<typeof startApp>>;

let started: LoggedApp;

async function startApp() {
  const text: string[] = [];
  const app = await buildApp(testContext(pino({}, { write: (line) => text.push(line) })), {
    requestsPerMinute: 10,
    reserved: { isFor: (address) => address === "192.0.2.9", requestsPerMinute: 1_000 },
    maxConnections: 100,
    trustedProxies: ["127.0.0.1"],
  });
  app.get("/served", async () => ({}));
  app.get("/broken", async () => {
    throw new Error("a bug");
  });
  return { app, text, lines: () => text.splice(0).map((line): LogLine => JSON.parse(line)) };
}

/** Sends requests from one address. */
async function ask(count: number, from: string, url: string): Promise<void> {
  const headers = { "x-forwarded-for": from };
  for (let i = 0; i < count; i++) await started.app.inject({ url, headers });
}

beforeEach(async () => {
  started = await startApp();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(async () => {
  vi.useRealTimers();
  await started.app.close();
});

test("a flood of refused requests with long urls is logged in a few short lines, which count all of them", async () => {
  const { app, text, lines } = started;
  await ask(500, "192.0.2.1", `/nowhere/${"x".repeat(7_000)}`);
  vi.advanceTimersByTime(60_000);
  expect(text.join("").length).toBeLessThan(15_000);
  const [first, ...others] = lines();
  expect(first).toMatchObject({ msg: "request", url: expect.stringMatching(/^\/nowhere\/x{247}\.\.\.$/) });
  expect(others.map(({ code }) => code)).toEqual([
    ...Array(9).fill("no_such_path"),
    ...Array(10).fill("too_many_requests"),
    undefined,
  ]);
  expect(others.at(-1)).toMatchObject({
    ...{ msg: "more requests", ip: "192.0.2.1", suppressed: 480 },
    outcomes: { too_many_requests: 480 },
  });
  // Requests in another minute are logged again, and the rest is counted when the service closes.
  await ask(21, "192.0.2.1", "/nowhere");
  await app.close();
  expect(lines().map(({ msg, suppressed }) => [msg, suppressed])).toEqual([
    ...Array(20).fill(["request", undefined]),
    ["more requests", 1],
  ]);
});

test("requests of very many callers are counted together", async () => {
  for (let i = 0; i < 1_150; i++) await ask(1, `2001:db8:0:${i.toString(16)}::1`, "/nowhere");
  vi.advanceTimersByTime(60_000);
  const logged = started.lines();
  expect(logged.length).toBe(1_001);
  expect(logged.at(-1)).toMatchObject({ msg: "more requests", suppressed: 150 });
});

test("of one caller's failures and successes, twenty are logged with their stacks, and all of a reserved caller", async () => {
  const { app, lines } = started;
  for (let i = 0; i < 4; i++) await ask(10, `2001:db8::${i}`, "/broken");
  const logged = lines();
  expect(logged.filter(({ msg }) => msg === "request failed").length).toBe(10);
  expect(logged.filter(({ msg }) => msg === "request").length).toBe(20);
  await ask(50, "192.0.2.9", "/served");
  await app.close();
  expect(lines().filter(({ msg }) => msg === "request").length).toBe(50);
});

test("a proxy that hides its callers is warned of once, unless others come, or a reserved caller does", async () => {
  const warnings = () => started.lines().flatMap(({ level, ip, msg }) => (level === 40 ? [[ip, msg]] : []));
  const minuteOf = async (...callers: [count: number, from: string][]) => {
    for (const [count, from] of callers) await ask(count, from, "/served");
    vi.advanceTimersByTime(60_000);
    return warnings();
  };
  expect(await minuteOf([29, "127.0.0.1"])).toEqual([]);
  expect(await minuteOf([30, "192.0.2.1"])).toEqual([]);
  expect(await minuteOf([30, "10.0.0.1"], [1, "192.0.2.1"])).toEqual([]);
  // A check of this machine's own comes, too.
  expect(await minuteOf([4, "127.0.0.1"], [30, "10.0.0.1"])).toEqual([
    ["10.0.0.1", expect.stringContaining("X-Forwarded-For")],
  ]);
  expect(await minuteOf([30, "10.0.0.1"])).toEqual([]);
  await started.app.close();
  started = await startApp();
  expect(await minuteOf([1, "192.0.2.9"], [30, "::1"])).toEqual([]);
});
