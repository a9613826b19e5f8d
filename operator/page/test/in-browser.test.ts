/** The page in a real browser, against a real devnet. What the page decides without a browser has unit tests in src/. */

import { clientOf } from "@dataset-oracle/devnet/test-support/chain-client";
import { afterAll, beforeAll, describe } from "vitest";
import { freePortOptions, START_MS, startDevnet } from "../../../devnet/test/devnet-process.js";
import { postDataRequest } from "../../../devnet/test/post-data-request.js";
import { accessibilityFlows } from "./flows/accessibility-and-sizes.js";
import { browsingFlows } from "./flows/browsing.js";
import { firstVisitFlows } from "./flows/first-visit.js";
import { problemFlows } from "./flows/problems.js";
import { requestFlows } from "./flows/requests.js";
import { snippetFlows } from "./flows/runnable-snippets.js";
import { launchBrowser } from "./support/launch-browser.js";
import { hasBrowser } from "./support/skip-without-browser.js";
import type { TestEnvironment } from "./support/visit.js";

describe.runIf(hasBrowser())("the page in Chromium", () => {
  let started: TestEnvironment;
  const environment = () => started;

  beforeAll(async () => {
    const devnet = await startDevnet(await freePortOptions());
    // The providers' first answers about a spec take longest, too.
    const [{ dataset = "", key = "" } = {}] = devnet.webOracle.examples.filter(({ name }) => name === "temperature");
    const request = { network_id: 42, dataset, key, broadcast: false };
    for (let asked = 0; asked < 20; asked++) if ((await postDataRequest(devnet, request)).status === 200) break;
    const browser = await launchBrowser();
    started = { devnet, browser, chain: clientOf(devnet.chain) };
  }, START_MS);
  afterAll(() => Promise.all([started?.browser.close(), started?.devnet.interrupt()]), 30_000);

  // Each test has its own window and mostly waits for the next block, so they can run at the same time, but not those that
  // compute. They use `expect` of their context for polling: the global one belongs to the test that began last.
  describe.concurrent("requests", () => requestFlows(environment));
  describe.concurrent("a first visit", () => firstVisitFlows(environment));
  describe.concurrent("data", () => browsingFlows(environment));
  describe.concurrent("problems", () => problemFlows(environment));
  describe("accessibility", () => accessibilityFlows(environment));
  describe("the code", () => snippetFlows(environment));
});
