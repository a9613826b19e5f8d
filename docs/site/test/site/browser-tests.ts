import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addGuide, addPage } from "@dataset-oracle/operator/dist/plugins/page/plugin.js";
import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectAccessible } from "../../../../operator/page/test/support/axe.js";
import {
  type Browser,
  type BrowserContextOptions,
  launchBrowser,
  type Page,
} from "../../../../operator/page/test/support/launch-browser.js";
import { DEVNET } from "../../devnet-addresses.js";
import { PAGES } from "../../pages.js";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true } as const;
const DESKTOP = { viewport: { width: 1440, height: 900 } } as const;

/** The financial dataset of the tests' operator. Its address differs from the devnet's. */
const SERVED = "0x00000000000000000000000000000000000C0ffE";
const OVERVIEW = {
  networks: [{ network_id: 7, verified_lens: null, datasets: [{ name: "financial", dataset: SERVED, providers: [] }] }],
};

/** One of each kind: prose, commands, wide tables, code, generated ones, a file. */
const KINDS = [
  "",
  "tour/",
  "gas/",
  "reference/configuration/",
  "reference/dataset-interface/",
  "source/src/Oracle.sol/",
];

/**
 * Tests the site in a browser.
 *
 * @param folder Where it was built.
 * @param basePath The path at which an operator serves its own page, which the site is below.
 */
export function browserTests(folder: string, basePath: string): void {
  /** The folder of the operator's own page. */
  let home: string;
  let app: App;
  let origin: string;
  let base: string;
  let browser: Browser;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), "site-page-"));
    writeFileSync(
      join(home, "index.html"),
      '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Live data</title></html>',
    );
    const logger = pino({ level: "silent" });
    app = await buildApp({ logger, requestsPerMinute: 1_000, maxConnections: 100, trustedProxies: [] });
    await app.register(
      async (routes) => {
        await addGuide(routes as unknown as App, folder, { name: "guide", perMinute: 100_000 });
        await addPage(routes as unknown as App, home);
        routes.get("/overview", async () => OVERVIEW);
      },
      { prefix: basePath },
    );
    origin = await app.listen({ host: "127.0.0.1", port: 0 });
    base = `${origin}${basePath}/guide/`;
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  /**
   * Opens pages one after the other, and fails on any error that the browser reports and any request elsewhere.
   *
   * @param waitUntil The event to wait for before `look` is called. Buttons work once the network is idle, half a second after "load".
   */
  async function open(
    options: BrowserContextOptions,
    paths: readonly string[],
    look: (page: Page, path: string) => unknown,
    waitUntil: "networkidle" | "load" = "networkidle",
  ) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !url.startsWith("data:image/svg+xml")) errors.push(url);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) errors.push(`${response.status()} ${response.url()}`);
    });
    for (const path of paths) {
      await page.goto(base + path, { waitUntil });
      await look(page, path);
    }
    await context.close();
    expect(errors).toEqual([]);
  }

  test("search finds a word, and opens the page that has it", async () => {
    await open(DESKTOP, ["security/"], async (page) => {
      await page.getByRole("button", { name: "Search" }).click();
      await page.locator("#localsearch-input").fill("heartbeat");
      await page.locator("#localsearch-list a").first().waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => !url.pathname.endsWith("/security/"));
      expect(page.url()).toContain(base);
      await expect.poll(() => page.locator("main").textContent()).toMatch(/heartbeat/i);
    });
  });

  test("navigation leads from page to page without loading them whole, and up to the operator's own page", async () => {
    await open(DESKTOP, ["tour/"], async (page) => {
      await page.evaluate("window.isSamePage = true");
      const sidebar = page.locator("#VPSidebarNav");
      for (const name of ["Configuration", "Threat model", "Overview"]) {
        await sidebar.getByRole("link", { name, exact: true }).click();
        const { path = "" } = PAGES.find(({ label }) => label === name) ?? {};
        await page.waitForURL(base + path);
        await expect.poll(() => page.locator(".VPSidebarItem.is-active").allInnerTexts()).toContain(name);
      }
      await page.locator("main").getByRole("link", { name: "the tour" }).click();
      await page.waitForURL(`${base}tour/`);
      expect(await page.evaluate("window.isSamePage")).toBe(true);
      await page.getByRole("link", { name: "Live data" }).click();
      await page.waitForURL(`${origin}${basePath}/`);
      expect(await page.title()).toBe("Live data");
    });
  });

  test("an unknown address has a page that says so and leads back", async () => {
    const context = await browser.newContext(DESKTOP);
    const page = await context.newPage();
    const missing: string[] = [];
    page.on("response", (response) => response.status() >= 400 && missing.push(response.url()));
    const unknown = `${base}tour/nothing/here`;
    expect((await page.goto(unknown, { waitUntil: "networkidle" }))?.status()).toBe(404);
    expect(missing).toEqual([unknown]);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("No such page");
    await page.getByRole("link", { name: "Go to the overview of the guide" }).click();
    await page.waitForURL(base);
    await expect.poll(() => page.locator("h1").textContent()).toContain("Dataset Oracle");
    await page.goto(unknown);
    await page.getByRole("link", { name: "Live data" }).click();
    await page.waitForURL(`${origin}${basePath}/`);
    await context.close();
  });

  test("commands ask the operator that serves them, on the first page and on the next one", async () => {
    await open(DESKTOP, ["dapps/"], async (page) => {
      const shown = () => page.locator("main").textContent();
      await expect.poll(shown).toContain(`${origin}${basePath}/data/request`);
      await page.locator("#VPSidebarNav").getByRole("link", { name: "Five-minute tour" }).click();
      await page.waitForURL(`${base}tour/`);
      await expect.poll(shown).toContain(`curl -s ${origin}${basePath}/data/request`);
      expect(await shown()).not.toContain("http://127.0.0.1:8080");
    });
  });

  test("examples of requests name the network and the addresses that this operator serves", async () => {
    await open(DESKTOP, ["reference/http/"], async (page) => {
      const example = page.locator(".language-sh", { hasText: "/data/request" }).first();
      await expect.poll(() => example.textContent()).toContain(`{"network_id":7,"dataset":"${SERVED}"`);
      const gateway = page.locator(".language-sh", { hasText: "/data/gateway/7/" });
      expect(await gateway.first().textContent()).toContain(SERVED.slice(2).toLowerCase());
      const main = await page.locator("main").textContent();
      expect(main).not.toContain(DEVNET.datasets.financial);
    });
    // The table of the devnet's addresses stays as it is.
    await open(DESKTOP, ["datasets/financial/"], async (page) => {
      expect(await page.locator("main").textContent()).toContain(DEVNET.datasets.financial);
    });
  });

  test("light and dark follow the system, and the switch", async () => {
    await open({ ...DESKTOP, colorScheme: "dark" }, ["tour/"], async (page) => {
      const isDark = () => page.evaluate("document.documentElement.classList.contains('dark')");
      expect(await isDark()).toBe(true);
      await page.getByRole("switch").first().click();
      expect(await isDark()).toBe(false);
      await page.reload();
      expect(await isDark()).toBe(false);
    });
  });

  // The rest does not depend on where the site is.
  if (basePath !== "") return;

  test("every page fits a phone", async () => {
    const paths = PAGES.map(({ path }) => path);
    const look = async (page: Page, path: string) => {
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), path).toBeLessThanOrEqual(0);
      expect((await page.locator("main").textContent())?.length, path).toBeGreaterThan(200);
    };
    await open(PHONE, paths, look, "load");
  });

  // In the dark theme only the colours differ.
  test.each([
    ["light", undefined],
    ["dark", ["color-contrast"]],
  ] as const)("axe finds nothing serious in the %s theme", async (colorScheme, rules) => {
    await open({ ...DESKTOP, colorScheme }, KINDS, (page) => expectAccessible(page, rules));
  });

  test("the menu of a phone leads to another page", async () => {
    await open(PHONE, ["tour/"], async (page) => {
      await page.getByRole("button", { name: "Menu", exact: true }).click();
      await page.locator("#VPSidebarNav").getByRole("link", { name: "Threat model" }).click();
      await page.waitForURL("**/threat-model/");
      await expect.poll(() => page.locator("h1").textContent()).toContain("Threat model");
    });
  });

  test("the keyboard gets past the navigation, and a block is copied", async () => {
    await open({ ...DESKTOP, permissions: ["clipboard-read", "clipboard-write"] }, ["tour/"], async (page) => {
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      expect(new URL(page.url()).hash).toBe("#VPContent");
      await page.locator("button.copy").first().click();
      await page.locator("button.copy.copied").waitFor();
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe("npm ci && npm start");
    });
  });
}
