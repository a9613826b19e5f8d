import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildApp } from "@dataset-oracle/service/app";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addPage } from "../src/http/page.js";

const SCRIPT = `console.log(${JSON.stringify("x".repeat(2_000))});`;

let folder: string;
let app: Awaited<ReturnType<typeof buildApp>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "page-"));
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>here</title>");
  writeFileSync(join(folder, "assets", "index-abcdefgh.js"), SCRIPT);
  const logger = pino({ level: "silent" });
  app = await buildApp({ logger, requestsPerMinute: 2, maxConnections: 100, trustedProxies: [] });
  await app.register(
    async (routes) => {
      addPage(routes as unknown as typeof app, folder);
    },
    { prefix: "/oracle" },
  );
});

afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true });
});

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: "GET", url, headers });

test("the page is asked for anew each time, and answered only where it has changed", async () => {
  const first = await get("/oracle/");
  expect([first.statusCode, first.body]).toEqual([200, "<!doctype html><title>here</title>"]);
  expect(first.headers).toMatchObject({ "cache-control": "no-cache", "content-type": "text/html; charset=utf-8" });
  const again = await get("/oracle/", { "if-none-match": String(first.headers.etag) });
  expect([again.statusCode, again.body]).toEqual([304, ""]);
});

test("its files stay, and come compressed where that is understood", async () => {
  const zipped = await get("/oracle/assets/index-abcdefgh.js", { "accept-encoding": "br, gzip" });
  expect(zipped.headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-encoding": "gzip",
    "content-type": "text/javascript; charset=utf-8",
    vary: "accept-encoding",
  });
  expect(zipped.rawPayload.length).toBeLessThan(200);
  const plain = await get("/oracle/assets/index-abcdefgh.js");
  expect([plain.headers["content-encoding"], plain.body]).toEqual([undefined, SCRIPT]);
});

test("a path without its slash leads to the page: it names its files beside itself", async () => {
  const { statusCode, headers } = await get("/oracle");
  expect([statusCode, headers.location]).toEqual([308, "/oracle/"]);
});

test.each(["/oracle/assets/..%2findex.html", "/oracle/../package.json", "/oracle/assets/", "/oracle/assets/other.js"])(
  "nothing else is there: %s",
  async (path) => {
    expect((await get(path)).statusCode).toBeGreaterThanOrEqual(404);
  },
);

test("its files take nothing of what a caller may ask for", async () => {
  for (let i = 0; i < 10; i++) expect((await get("/oracle/")).statusCode).toBe(200);
});

test("where it is not built there is none, and that is said", () => {
  expect(addPage(app, join(folder, "nowhere"))).toBe(false);
});
