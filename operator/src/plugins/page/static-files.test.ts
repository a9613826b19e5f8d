import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { SITE_PATH_PLACEHOLDER } from "@dataset-oracle/service/http-server/static-site";
import { createContext } from "@dataset-oracle/service/process/context";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addGuide, addPage } from "./plugin.js";

const SECRET = "not a part of the site";
const SCRIPT = `console.log(${JSON.stringify("x".repeat(2_000))});`;

const parent = mkdtempSync(join(tmpdir(), "static-"));
const page = join(parent, "page");
const guide = join(parent, "guide");
let app: App;

function write(folder: string, name: string, text: string): void {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), text);
  if (name.endsWith(".js")) writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
}

async function serve(pageFolder: string, guideFolder: string): Promise<{ app: App; hasPage: boolean }> {
  const context = createContext(pino({ level: "silent" }), new AbortController().signal, new Registry());
  const built = await buildApp(context, { requestsPerMinute: 100, maxConnections: 100, trustedProxies: [] });
  let hasPage = false;
  await built.register(
    async (routes) => {
      await addGuide(routes as unknown as App, guideFolder);
      hasPage = await addPage(routes as unknown as App, pageFolder);
    },
    { prefix: "/oracle" },
  );
  await built.ready();
  return { app: built, hasPage };
}

beforeAll(async () => {
  write(page, "index.html", "<!doctype html><title>here</title>");
  write(page, "assets/index-abcdefgh.js", SCRIPT);
  write(guide, "index.html", "<!doctype html><title>Guide</title>");
  write(guide, "tour/index.html", "<!doctype html><title>Tour</title>");
  write(guide, "head.js", "");
  write(guide, "404.html", `<!doctype html><link href="${SITE_PATH_PLACEHOLDER}code.css"><title>No such page</title>`);
  write(parent, "outside.txt", SECRET);
  ({ app } = await serve(page, guide));
});

afterAll(async () => {
  await app?.close();
});

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: "GET", url, headers });

describe.each([
  ["/oracle/", "<!doctype html><title>here</title>", "page"],
  ["/oracle/guide/", "<!doctype html><title>Guide</title>", "guide"],
  ["/oracle/guide/tour/", "<!doctype html><title>Tour</title>", "guide"],
])("%s", (path, html, limit) => {
  test("is sent again only if it has changed, may load only its own resources, and has its own rate limit", async () => {
    const { statusCode, body, headers } = await get(path);
    expect([statusCode, body]).toEqual([200, html]);
    expect(headers).toMatchObject({
      "cache-control": "no-cache",
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
        "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "ratelimit-policy": `"${limit}";q=300;w=60`,
    });
    const second = await get(path, { "if-none-match": String(headers.etag) });
    expect([second.statusCode, second.body]).toEqual([304, ""]);
  });

  test("has nothing else below it", async () => {
    for (const name of ["nothing", "assets/", "assets/other.js", "head.js.gz", "../outside.txt", "..%2foutside.txt"]) {
      const { statusCode, body } = await get(path + name);
      expect([name, statusCode]).toEqual([name, 404]);
      expect(body).not.toContain(SECRET);
      expect(body).toContain('"code"');
    }
  });
});

describe("an unknown path below the guide", () => {
  test.each([
    ["nothing", "./"],
    ["nothing/", "../"],
    ["tour/nothing?x=/", "../"],
    ["a/b%2Fc/d", "../../"],
  ])("shows the guide's page for it to a browser: %s", async (name, root) => {
    const { statusCode, headers, body } = await get(`/oracle/guide/${name}`, { accept: "text/html,*/*;q=0.8" });
    expect(statusCode).toBe(404);
    expect(body).toBe(`<!doctype html><link href="${root}code.css"><title>No such page</title>`);
    expect(headers).toMatchObject({ "content-type": "text/html; charset=utf-8", vary: "accept" });
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(headers["ratelimit-policy"]).toBe('"guide";q=300;w=60');
  });

  test("tells a program so, and the page for it has no address of its own", async () => {
    for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }]) {
      expect((await get("/oracle/guide/404.html", headers)).json()).toMatchObject({ code: "no_such_path" });
    }
  });
});

test("built assets are immutable, and compressed for clients that accept it", async () => {
  const zipped = await get("/oracle/assets/index-abcdefgh.js", { "accept-encoding": "br, gzip" });
  expect(zipped.headers).toMatchObject({
    "cache-control": "public, max-age=31536000, immutable",
    "content-encoding": "gzip",
    "content-type": "application/javascript; charset=utf-8",
    vary: "accept-encoding",
  });
  expect(zipped.rawPayload.length).toBeLessThan(200);
  const plain = await get("/oracle/assets/index-abcdefgh.js");
  expect([plain.headers["content-encoding"], plain.body]).toEqual([undefined, SCRIPT]);
});

test("links are not served, because they can lead out of the folder", async () => {
  const folder = join(parent, "linked");
  write(folder, "index.html", "a part of the site");
  symlinkSync(join(parent, "outside.txt"), join(folder, "file.txt"));
  symlinkSync(parent, join(folder, "folder"));
  const { app: linked } = await serve(page, folder);
  for (const name of ["file.txt", "folder/outside.txt"]) {
    const { statusCode, body } = await linked.inject({ url: `/oracle/guide/${name}` });
    expect([name, statusCode]).toEqual([name, 404]);
    expect(body).not.toContain(SECRET);
  }
  await linked.close();
});

test.each([
  ["/oracle", "/oracle/"],
  ["/oracle/guide", "/oracle/guide/"],
  ["/oracle/guide/tour?x=1", "/oracle/guide/tour/"],
  ["/oracle//guide//tour", "/oracle//guide//tour/"],
  ["/oracle/guide/head.js/", "/oracle/guide/head.js"],
])("%s leads to the path that relative links need", async (url, target) => {
  const { statusCode, headers } = await get(url);
  expect(statusCode).toBe(308);
  const location = String(headers.location);
  expect(location).toMatch(/^(?:\.\.\/)?\w/);
  expect(new URL(location, `http://operator${url}`).pathname).toBe(target);
});

test("files that were not built are a 404, which for the guide says how to build it", async () => {
  const nowhere = join(parent, "nowhere");
  const { app: empty, hasPage } = await serve(nowhere, nowhere);
  expect(hasPage).toBe(false);
  const answer = await empty.inject({ url: "/oracle/guide/" });
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toMatchObject({ code: "no_such_path", detail: expect.stringContaining("npm run docs") });
  await empty.close();
});
