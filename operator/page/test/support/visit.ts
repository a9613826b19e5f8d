import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { findViolations } from "./axe.js";

/** The folder of the screenshots, ignored by git; null if the environment asks for none. */
const PICTURES = process.env.SCREENSHOTS ? join(ROOT, "operator/page/artifacts") : null;
if (PICTURES !== null) mkdirSync(PICTURES, { recursive: true });

interface VisitOptions extends Pick<BrowserContextOptions, "colorScheme" | "viewport" | "isMobile"> {
  /** The part after `#`. */
  readonly at?: string;
  /** Called before the page is opened. */
  readonly prepare?: (page: Page) => Promise<void>;
  /** Browser console errors that the test expects: a problem answer, a refused connection. */
  readonly problems?: readonly string[];
}

/** A page opened in the browser. */
interface Visit {
  readonly page: Page;
  /** Returns what this page copied last. The windows of a browser share its clipboard. */
  copied(): Promise<string>;
  /** Saves a screenshot, if the environment asks for them. */
  picture(name: string): Promise<void>;
  /** Fails if axe finds anything, by all of its rules or by some. */
  expectAccessible(rules?: readonly string[]): Promise<void>;
  /** Closes the page. Fails if there was an unexpected error or a request to another origin. */
  end(): Promise<void>;
}

/** Opens the page of the operator at a base URL. */
export async function visit(browser: Browser, base: string, options: VisitOptions = {}): Promise<Visit> {
  const {
    at = "/",
    isMobile = false,
    prepare,
    problems = [],
    colorScheme = "light",
    viewport = { width: 1280, height: 900 },
  } = options;
  const context = await browser.newContext({
    colorScheme,
    viewport,
    isMobile,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const errors: string[] = [];
  const foreign: string[] = [];
  const isExpected = (text: string) => problems.some((problem) => text.includes(problem));
  page.on("pageerror", ({ message }) => errors.push(message));
  page.on("console", (said) => {
    if (said.type() === "error" && !isExpected(said.text())) errors.push(said.text());
  });
  page.on("request", (asked) => {
    if (!asked.url().startsWith(base) && !asked.url().startsWith("data:")) foreign.push(asked.url());
  });
  await page.addInitScript(noteCopies);
  await prepare?.(page);
  await page.goto(`${base}/#${at}`);
  await page.locator("h1").waitFor();
  return {
    page,
    copied: () => page.evaluate("copied") as Promise<string>,
    async picture(name) {
      if (PICTURES === null) return;
      await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true, animations: "disabled" });
    },
    async expectAccessible(rules) {
      const violations = await findViolations(page, rules);
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      expect(found, page.url()).toEqual([]);
    },
    async end() {
      await context.close();
      expect({ errors, foreign }).toEqual({ errors: [], foreign: [] });
    },
  };
}

interface BrowserNavigator {
  readonly clipboard: { writeText(text: string): Promise<void> };
}

/** Runs in the page, before its own script. */
const noteCopies = () => {
  const { clipboard } = (globalThis as unknown as { navigator: BrowserNavigator }).navigator;
  const write = clipboard.writeText.bind(clipboard);
  clipboard.writeText = (text) => {
    Object.assign(globalThis, { copied: text });
    return write(text);
  };
};
