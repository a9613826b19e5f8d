/** The page in a real browser, against a real devnet. */

import { afterAll, beforeAll, describe } from "vitest";
import { accessFlows } from "./flows/accessibility.js";
import { walletFlows } from "./flows/browser-wallet.js";
import { browsingFlows } from "./flows/browsing.js";
import { builderFlows } from "./flows/builder.js";
import { evidenceFlows } from "./flows/evidence.js";
import { formFlows } from "./flows/form.js";
import { problemFlows } from "./flows/problems.js";
import { snippetFlows } from "./flows/snippets.js";
import { hasBrowser } from "./support/browser.js";
import { startWorld, type World } from "./support/world.js";

describe.runIf(hasBrowser())("the page in Chromium", () => {
  let started: World;
  const world = () => started;

  beforeAll(async () => {
    started = await startWorld();
  }, 150_000);
  afterAll(() => started?.close(), 30_000);

  // Each test has its own window and mostly waits for the next block, so they can run at the same time. They use `expect`
  // of their context for polling: the global one belongs to the test that began last.
  describe.concurrent("the builder", () => builderFlows(world));
  describe.concurrent("browsing", () => browsingFlows(world));
  describe.concurrent("the evidence", () => evidenceFlows(world));
  describe.concurrent("the form", () => formFlows(world));
  describe.concurrent("a browser wallet", () => walletFlows(world));
  describe.concurrent("accessibility and policy", () => accessFlows(world));
  describe.concurrent("problems", () => problemFlows(world));
  describe.concurrent("the code", () => snippetFlows(world));
});
