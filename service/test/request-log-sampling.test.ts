import { buildApp } from "@dataset-oracle/service/http-server/app";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

type Line = Readonly<Record<string, unknown>>;
type LoggedApp = Awaited<ReturnType<typeof startApp>>;

let started: LoggedApp;

async function startApp() {
  const text: string[] = [];
  const app = await buildApp({
    logger: pino({}, { write: (line) => text.push(line) }),
    requestsPerMinute: 10,
    maxConnections: 100,
    trustedProxies: ["127.0.0.1"],
  });
  app.get("/served", async () => ({}));
  return { app, text, lines: () => text.splice(0).map((line): Line => JSON.parse(line)) };
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
  vi.advanceTimersByTime(1_000);
  expect(text.join("").length).toBeLessThan(15_000);
  const [first, ...others] = lines();
  expect(first).toMatchObject({ msg: "request", url: expect.stringMatching(/^\/nowhere\/x{247}\.\.\.$/) });
  expect(others.map(({ code }) => code)).toEqual([
    ...Array(9).fill("no_such_path"),
    ...Array(10).fill("too_many_requests"),
    "too_many_requests",
  ]);
  expect(others.at(-1)).toMatchObject({ msg: "more requests refused", ip: "192.0.2.1", suppressed: 480 });
  // Refusals in another second are logged again, and the rest is counted when the service closes.
  await ask(11, "192.0.2.1", "/nowhere");
  await app.close();
  expect(lines().map(({ msg, suppressed }) => [msg, suppressed])).toEqual([
    ...Array(10).fill(["request", undefined]),
    ["more requests refused", 1],
  ]);
});

test("refusals of very many callers are counted together", async () => {
  for (let i = 0; i < 250; i++) await ask(1, `2001:db8:0:${i.toString(16)}::1`, "/nowhere");
  vi.advanceTimersByTime(1_000);
  const logged = started.lines();
  expect(logged.length).toBe(101);
  expect(logged.at(-1)).toMatchObject({ msg: "more requests refused", suppressed: 150 });
});
