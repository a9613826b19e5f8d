import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, extname, join } from "node:path";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PAGES } from "../pages.js";
import { render } from "./rendered.js";

/** Debian's package `chromium`; another by the environment. */
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
};
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true } as const;
const DESK = { viewport: { width: 1440, height: 900 } } as const;

/** One of each kind: prose, commands, wide tables, code, generated ones, a file. */
const KINDS = [
  "",
  "tour/",
  "gas/",
  "reference/configuration/",
  "reference/dataset-interface/",
  "source/src/Oracle.sol/",
];

// A machine without the browser says so here; CI has it.
describe.runIf(existsSync(CHROMIUM))("in a browser", () => {
  let site: ReturnType<typeof render>;
  let server: Server;
  let base: string;
  let browser: Browser;

  beforeAll(async () => {
    site = render();
    server = createServer(({ url = "/" }, response) => {
      // Below a path, as an operator with a base path has it.
      const path = url.replace(/^\/oracle\/guide\//, "").replace(/(^|\/)$/, "$1index.html");
      if (!site.files.has(path)) return response.writeHead(404).end();
      return response.setHeader("content-type", TYPES[extname(path)] ?? "").end(readFileSync(join(site.folder, path)));
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/oracle/guide/`;
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
    rmSync(dirname(site.folder), { recursive: true });
  });

  /** Opens pages one after the other, and fails on any error that a browser tells of, and any request elsewhere. */
  async function open(
    options: BrowserContextOptions,
    paths: readonly string[],
    look: (page: Page, path: string) => unknown,
  ) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const told: string[] = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && told.push(message.text()));
    page.on("pageerror", (error) => told.push(String(error)));
    page.on("request", (request) => request.url().startsWith(base) || told.push(request.url()));
    page.on("response", (response) => response.status() < 400 || told.push(`${response.status()} ${response.url()}`));
    for (const path of paths) {
      await page.goto(base + path);
      await look(page, path);
    }
    await context.close();
    expect(told).toEqual([]);
  }

  test("every page fits a phone", async () => {
    await open(
      PHONE,
      PAGES.map(({ path }) => path),
      async (page, path) => {
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), path).toBeLessThanOrEqual(0);
        expect(await page.locator("article").isVisible(), path).toBe(true);
        expect((await page.locator("article").textContent())?.length, path).toBeGreaterThan(200);
      },
    );
  });

  test.each(["light", "dark"] as const)("axe finds nothing serious in the %s theme", async (colorScheme) => {
    await open({ ...DESK, colorScheme }, KINDS, async (page, path) => {
      await page.evaluate(AXE);
      const { violations } = await page.evaluate<AxeResults>("axe.run()");
      const found = violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
      expect(found, path).toEqual([]);
    });
  });

  test("the menu of a phone leads to another page", async () => {
    await open(PHONE, ["tour/"], async (page) => {
      await page.getByText("Menu").click();
      await page.locator(".menu nav").getByRole("link", { name: "Threat model" }).click();
      await page.waitForURL("**/threat-model/");
      expect(await page.locator("h1").textContent()).toBe("Threat model");
    });
  });

  test("the keyboard gets past the navigation, and a block is copied", async () => {
    await open({ ...DESK, permissions: ["clipboard-read", "clipboard-write"] }, ["tour/"], async (page) => {
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      expect(new URL(page.url()).hash).toBe("#main");
      await page.getByRole("button", { name: "Copy" }).first().click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe("npm ci && npm start");
    });
  });
});
