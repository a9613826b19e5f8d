import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, buildApp } from "@dataset-oracle/service/app";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addGuide } from "./guide.js";

const SECRET = "not a part of the guide";
const parent = mkdtempSync(join(tmpdir(), "guide-"));
const folder = join(parent, "dist");
mkdirSync(join(folder, "tour"), { recursive: true });
writeFileSync(join(folder, "tour", "index.html"), "<!doctype html><title>Tour</title>");
writeFileSync(join(folder, "style.css"), "body{}");
writeFileSync(join(folder, "..", "outside.txt"), SECRET);

/** The guide of a folder, below a base path. */
async function serve(root: string): Promise<App> {
  const app = await buildApp({
    logger: pino({ level: "silent" }),
    requestsPerMinute: 10,
    maxConnections: 10,
    trustedProxies: [],
  });
  await app.register(async (routes) => addGuide(routes as unknown as App, 10, root), { prefix: "/oracle" });
  return app;
}

describe("the guide", () => {
  let app: App;
  beforeAll(async () => {
    app = await serve(folder);
  });
  afterAll(async () => {
    await app.close();
    rmSync(parent, { recursive: true });
  });
  const get = (url: string) => app.inject({ url });

  test("is served below the base path, and may load only what is its own", async () => {
    const { statusCode, headers, body } = await get("/oracle/guide/tour/");
    expect({ statusCode, body }).toEqual({ statusCode: 200, body: "<!doctype html><title>Tour</title>" });
    expect(headers["content-type"]).toMatch(/^text\/html; charset=utf-8$/i);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
    expect(headers["ratelimit-policy"]).toBe('"guide";q=10;w=60');
    expect(headers["cache-control"]).toBe("public, max-age=0");
    const style = (await get("/oracle/guide/style.css")).headers;
    expect(style["content-type"]).toContain("text/css");
    expect(style["cache-control"]).toBe("public, max-age=600");
  });

  test.each([
    ["/oracle/guide", "guide/"],
    ["/oracle/guide/tour", "/oracle/guide/tour/"],
  ])("leads from %s to the slash that relative links need", async (url, location) => {
    const { statusCode, headers } = await get(url);
    expect(statusCode).toBe(301);
    expect(headers.location).toBe(location);
  });

  test.each(["cancel", "../outside.txt", "%2e%2e/outside.txt", "..%2foutside.txt", "tour/../../outside.txt"])(
    "has nothing at %s",
    async (path) => {
      const { statusCode, body } = await get(`/oracle/guide/${path}`);
      expect([403, 404]).toContain(statusCode);
      expect(body).not.toContain(SECRET);
      expect(body).toContain('"code"');
    },
  );

  test("has a limit of requests of its own", async () => {
    const codes: number[] = [];
    for (let i = 0; i < 12; i++) codes.push((await get("/oracle/guide/style.css")).statusCode);
    expect(codes).toContain(429);
  });
});

test("a guide that was not rendered says how", async () => {
  const app = await serve(join(folder, "none"));
  const answer = await app.inject({ url: "/oracle/guide/" });
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toMatchObject({ code: "no_such_path", detail: expect.stringContaining("npm run docs") });
  await app.close();
});
