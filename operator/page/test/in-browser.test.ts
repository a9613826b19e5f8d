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
  let world: World;
  const here = () => world;

  beforeAll(async () => {
    world = await startWorld();
  }, 150_000);
  afterAll(() => world?.close(), 30_000);

  // Each test has its own window and mostly waits for the next block, so they can run at the same time. They use `expect`
  // of their context for polling: the global one belongs to the test that began last.
  describe.concurrent("the builder", () => builderFlows(here));
  describe.concurrent("browsing", () => browsingFlows(here));
  describe.concurrent("the evidence", () => evidenceFlows(here));
  describe.concurrent("the form", () => formFlows(here));
  describe.concurrent("a browser wallet", () => walletFlows(here));
  describe.concurrent("accessibility and policy", () => accessFlows(here));
  describe.concurrent("problems", () => problemFlows(here));
  describe.concurrent("the code", () => snippetFlows(here));
});
