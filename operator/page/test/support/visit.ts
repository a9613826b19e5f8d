import type { TestChainClient } from "@dataset-oracle/devnet/test-support/chain-client";
import type { Browser, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Devnet } from "../../../../devnet/test/devnet-process.js";
import { findViolations } from "./axe.js";

/** Everything that the tests need. */
export interface TestEnvironment {
  readonly devnet: Devnet;
  readonly browser: Browser;
  readonly chain: TestChainClient;
}

/** The form that requests an update, and what is inside it. */
export const formOf = (page: Page) => page.getByRole("region", { name: "Request a fresh value" });

/**
 * Presses the form's button until something is shown, and again where the providers of a busy machine have not signed in
 * time, as the page then advises.
 */
export async function pressUntil(shown: Locator, press: () => Promise<void>): Promise<void> {
  const unsigned = shown.page().locator(".note.bad", { hasText: "no_quorum" });
  do {
    await press();
    await shown.or(unsigned).first().waitFor();
  } while ((await unsigned.count()) > 0);
}

export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1440, height: 900 };

interface VisitOptions {
  readonly size?: typeof PHONE;
  /** Called before the page is opened. */
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Browser console errors that the test expects: a problem answer, a refused connection. */
  readonly problems?: readonly string[];
}

/** A page opened in the browser. */
interface Visit {
  readonly page: Page;
  /** Fails if axe finds anything, by all of its rules or by some. */
  expectAccessible(rules?: readonly string[]): Promise<void>;
  /** Closes the page. Fails if there was an unexpected error or a request to another origin. */
  end(): Promise<void>;
}

/** Opens the operator's page at a path, which is the part after `#`. */
export async function visit(
  { browser, devnet }: TestEnvironment,
  path = "/",
  { size = DESK, prepare, problems = [] }: VisitOptions = {},
): Promise<Visit> {
  const base = devnet.operator.url;
  const context = await browser.newContext({
    colorScheme: "light",
    viewport: size,
    // Scrollbars of a phone take no width.
    isMobile: size === PHONE,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
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
  await prepare?.(page);
  await page.goto(`${base}/#${path}`);
  await page.locator("h1").waitFor();
  return {
    page,
    async expectAccessible(rules) {
      const violations = await findViolations(page, rules);
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      expect(found, page.url()).toEqual([]);
    },
    async end() {
      // The page asks again and again, and a handler would lose its answer.
      await page.unrouteAll({ behavior: "wait" });
      await context.close();
      expect({ errors, foreign }).toEqual({ errors: [], foreign: [] });
    },
  };
}
