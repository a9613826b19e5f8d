import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addGuide, addPage } from "@dataset-oracle/operator/dist/plugins/page/plugin.js";
import { type App, buildApp } from "@dataset-oracle/service/http-server/app";
import { processRegistry } from "@dataset-oracle/service/http-server/metrics";
import { createContext } from "@dataset-oracle/service/process/context";
import { ROOT } from "@dataset-oracle/tools/repository-root";
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

/** Operators may serve everything below a path. */
const BASE_PATH = "/oracle";
/** The financial dataset of the tests' operator. Its address differs from the devnet's. */
const SERVED = "0x00000000000000000000000000000000000C0ffE";
const OVERVIEW = {
  networks: [{ network_id: 7, verified_lens: null, datasets: [{ name: "financial", dataset: SERVED, providers: [] }] }],
};

/** The pages with a text, of those that are not generated. */
const pagesWith = (text: string) =>
  PAGES.filter(({ source }) => {
    const file = join(ROOT, source);
    return existsSync(file) && readFileSync(file, "utf8").includes(text);
  });
/** Two pages with commands for an operator. */
const [REQUESTS, MORE_REQUESTS] = pagesWith(`${DEVNET.operator}/data/request`);
const [FIRST] = PAGES;
const LAST = PAGES.at(-1);

/** One of each kind: prose with commands, wide tables, an interface, a file. */
const KINDS = [
  REQUESTS?.path ?? "",
  "reference/configuration/",
  "reference/dataset-interface/",
  "source/src/Oracle.sol/",
];

/** Tests the site that was built in a folder, in a browser. */
export function browserTests(folder: string): void {
  let app: App;
  let origin: string;
  let base: string;
  let browser: Browser;

  beforeAll(async () => {
    const home = mkdtempSync(join(tmpdir(), "site-page-"));
    writeFileSync(
      join(home, "index.html"),
      '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Live data</title></html>',
    );
    const context = createContext(pino({ level: "silent" }), new AbortController().signal, processRegistry());
    app = await buildApp(context, { requestsPerMinute: 1_000, maxConnections: 100, trustedProxies: [] });
    for (const prefix of ["", BASE_PATH]) {
      await app.register(
        async (routes) => {
          await addGuide(routes as unknown as App, folder, { name: "guide", perMinute: 100_000 });
          await addPage(routes as unknown as App, home);
          routes.get("/overview", async () => OVERVIEW);
        },
        { prefix },
      );
    }
    origin = await app.listen({ host: "127.0.0.1", port: 0 });
    base = `${origin}${BASE_PATH}/guide/`;
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
    { waitUntil = "networkidle", from = base }: { waitUntil?: "networkidle" | "load"; from?: string } = {},
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
      await page.goto(from + path, { waitUntil });
      await look(page, path);
    }
    await context.close();
    expect(errors).toEqual([]);
  }

  test("search finds a word, and opens the page that has it", async () => {
    await open(DESKTOP, [""], async (page) => {
      await page.getByRole("button", { name: "Search" }).click();
      await page.locator("#localsearch-input").fill("heartbeat");
      await page.locator("#localsearch-list a").first().waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.href !== base);
      await expect.poll(() => page.locator("main").textContent()).toMatch(/heartbeat/i);
    });
  });

  /** Follows the navigation's link to a page. */
  async function follow(page: Page, target: (typeof PAGES)[number] | undefined, from = base) {
    const links = page.locator("#VPSidebarNav");
    await links.getByRole("link", { name: target?.label ?? "", exact: true }).click();
    await page.waitForURL(from + target?.path);
    // The address changes before the page does.
    await links
      .locator(".is-active")
      .getByRole("link", { name: target?.label ?? "", exact: true })
      .waitFor();
  }

  test.each(["", BASE_PATH])(
    "below '%s', links lead from page to page without loading them whole, and to the operator's own page",
    async (path) => {
      const from = `${origin}${path}/guide/`;
      const lead = async (page: Page) => {
        await page.evaluate("window.isSamePage = true");
        for (const target of [LAST, FIRST]) await follow(page, target, from);
        await page.locator('main p a[href^="."], main td a[href^="."], main li a[href^="."]').first().click();
        await page.waitForURL((url) => url.href !== from);
        expect(page.url()).toContain(from);
        expect(await page.evaluate("window.isSamePage")).toBe(true);
        await page.getByRole("link", { name: "Live data" }).click();
        await page.waitForURL(`${origin}${path}/`);
        expect(await page.title()).toBe("Live data");
      };
      await open(DESKTOP, [REQUESTS?.path ?? ""], lead, { from });
    },
  );

  test("an unknown address has a page that says so, whose files are there, and which leads back", async () => {
    const context = await browser.newContext(DESKTOP);
    const page = await context.newPage();
    const missing: string[] = [];
    page.on("response", (response) => response.status() >= 400 && missing.push(response.url()));
    const unknown = `${base}gas/nothing/here`;
    await page.goto(unknown, { waitUntil: "networkidle" });
    expect(missing).toEqual([unknown]);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("No such page");
    await page.getByRole("link", { name: "Go to the overview of the guide" }).click();
    await page.waitForURL(base);
    await context.close();
  });

  test("commands ask the operator that serves them, on the first page and on the next one", async () => {
    await open(DESKTOP, [REQUESTS?.path ?? ""], async (page) => {
      const shown = () => page.locator("main").textContent();
      await expect.poll(shown).toContain(`${origin}${BASE_PATH}/data/request`);
      await follow(page, MORE_REQUESTS);
      await expect.poll(shown).toContain(`${origin}${BASE_PATH}/data/request`);
      expect(await shown()).not.toContain(DEVNET.operator);
    });
  });

  test("examples of requests name what this operator serves; the table of the devnet's addresses stays as it is", async () => {
    await open(DESKTOP, ["reference/http/"], async (page) => {
      const example = page.locator(".language-sh", { hasText: "/data/request" }).first();
      await expect.poll(() => example.textContent()).toContain(`{"network_id":7,"dataset":"${SERVED}"`);
      const gateway = page.locator(".language-sh", { hasText: "/gateway/7/" });
      expect(await gateway.first().textContent()).toContain(SERVED.slice(2).toLowerCase());
      expect(await page.locator("main").textContent()).not.toContain(DEVNET.datasets.financial);
    });
    await open(DESKTOP, ["datasets/financial/"], async (page) => {
      expect(await page.locator("main").textContent()).toContain(DEVNET.datasets.financial);
    });
  });

  test("light and dark follow the system, and the switch", async () => {
    await open({ ...DESKTOP, colorScheme: "dark" }, [""], async (page) => {
      const isDark = () => page.evaluate("document.documentElement.classList.contains('dark')");
      expect(await isDark()).toBe(true);
      await page.getByRole("switch").first().click();
      await page.reload();
      expect(await isDark()).toBe(false);
    });
  });

  test("every page fits a phone", async () => {
    const look = async (page: Page, path: string) => {
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), path).toBeLessThanOrEqual(0);
      expect((await page.locator("main").textContent())?.length, path).toBeGreaterThan(200);
    };
    const paths = PAGES.map(({ path }) => path);
    await open(PHONE, paths, look, { waitUntil: "load" });
  });

  test("axe finds nothing serious, in either theme", async () => {
    // With motion, the colours fade from one theme to the other, and axe judges those between.
    const options = { ...DESKTOP, colorScheme: "light", reducedMotion: "reduce" } as const;
    await open(options, KINDS, async (page) => {
      await expectAccessible(page);
      // Only the colours differ.
      await page.emulateMedia({ colorScheme: "dark" });
      await page.locator("html.dark").waitFor();
      await expectAccessible(page, ["color-contrast"]);
      await page.emulateMedia({ colorScheme: "light" });
    });
  });
}
