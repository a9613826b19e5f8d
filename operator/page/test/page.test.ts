/** The page in a real browser, against a real devnet. */

import { afterAll, beforeAll, describe } from "vitest";
import { accessFlows } from "./flows/access.js";
import { formFlows } from "./flows/form.js";
import { lookFlows } from "./flows/look.js";
import { problemFlows } from "./flows/problems.js";
import { snippetFlows } from "./flows/snippets.js";
import { walletFlows } from "./flows/wallet.js";
import { hasBrowser } from "./support/browser.js";
import { startWorld, type World } from "./support/world.js";

describe.runIf(hasBrowser())("the page in Chromium", () => {
  let world: World;
  const here = () => world;

  beforeAll(async () => {
    world = await startWorld();
  }, 150_000);
  afterAll(() => world?.close(), 30_000);

  // Each has a window of its own; what they wait for is mostly the next block.
  describe.concurrent("what is served", () => lookFlows(here));
  describe("the programs", () => snippetFlows(here));
  describe.concurrent("the form", () => formFlows(here));
  describe.concurrent("a browser wallet", () => walletFlows(here));
  describe.concurrent("for everyone", () => accessFlows(here));
  describe("what goes wrong", () => problemFlows(here));
});
