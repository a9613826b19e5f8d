/** The page in a real browser, against a real devnet. */

import { afterAll, beforeAll, describe } from "vitest";
import { accessibilityFlows } from "./flows/accessibility.js";
import { apiPageFlows } from "./flows/api-page.js";
import { walletFlows } from "./flows/browser-wallet.js";
import { browsingFlows } from "./flows/browsing.js";
import { evidenceFlows } from "./flows/evidence.js";
import { problemFlows } from "./flows/problems.js";
import { requestFormFlows } from "./flows/request-form.js";
import { securityHeaderFlows } from "./flows/security-headers.js";
import { snippetFlows } from "./flows/snippets.js";
import { specBuilderFlows } from "./flows/spec-builder.js";
import { hasBrowser } from "./support/browser.js";
import { startTestEnvironment, type TestEnvironment } from "./support/test-environment.js";

describe.runIf(hasBrowser())("the page in Chromium", () => {
  let environment: TestEnvironment;
  const here = () => environment;

  beforeAll(async () => {
    environment = await startTestEnvironment();
  }, 150_000);
  afterAll(() => environment?.close(), 30_000);

  // Each test has its own window and mostly waits for the next block, so they can run at the same time. They use `expect`
  // of their context for polling: the global one belongs to the test that began last.
  describe.concurrent("the spec builder", () => specBuilderFlows(here));
  describe.concurrent("browsing", () => browsingFlows(here));
  describe.concurrent("the evidence", () => evidenceFlows(here));
  describe.concurrent("the request form", () => requestFormFlows(here));
  describe.concurrent("a browser wallet", () => walletFlows(here));
  describe.concurrent("accessibility", () => accessibilityFlows(here));
  describe.concurrent("the security headers", () => securityHeaderFlows(here));
  describe.concurrent("the API page", () => apiPageFlows(here));
  describe.concurrent("problems", () => problemFlows(here));
  describe.concurrent("the code", () => snippetFlows(here));
});
