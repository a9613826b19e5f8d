/** The page in a real browser, against a real devnet. */

import { afterAll, beforeAll, describe } from "vitest";
import { accessibilityFlows } from "./flows/accessibility-and-phone-width.js";
import { walletFlows } from "./flows/browser-wallet.js";
import { browsingFlows } from "./flows/browsing.js";
import { historyFlows } from "./flows/history.js";
import { problemFlows } from "./flows/problems.js";
import { requestFormFlows } from "./flows/request-form.js";
import { snippetFlows } from "./flows/runnable-snippets.js";
import { hasBrowser } from "./support/skip-without-browser.js";
import { startTestEnvironment, type TestEnvironment } from "./support/test-environment.js";

describe.runIf(hasBrowser())("the page in Chromium", () => {
  let started: TestEnvironment;
  const environment = () => started;

  beforeAll(async () => {
    started = await startTestEnvironment();
  }, 150_000);
  afterAll(() => started?.close(), 30_000);

  // Each test has its own window and mostly waits for the next block, so they can run at the same time. They use `expect`
  // of their context for polling: the global one belongs to the test that began last.
  describe.concurrent("browsing", () => browsingFlows(environment));
  describe.concurrent("the history", () => historyFlows(environment));
  describe.concurrent("the request form", () => requestFormFlows(environment));
  describe.concurrent("a browser wallet", () => walletFlows(environment));
  describe.concurrent("accessibility", () => accessibilityFlows(environment));
  describe.concurrent("problems", () => problemFlows(environment));
  describe.concurrent("the code", () => snippetFlows(environment));
});
