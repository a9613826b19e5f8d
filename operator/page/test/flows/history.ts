import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { Page, Route } from "playwright-core";
import { formatUnits, keccak256 } from "viem";
import { expect, test } from "vitest";
import { formOf } from "../support/find-request-form.js";
import type { TestEnvironment } from "../support/test-environment.js";
import { visit } from "../support/visit.js";
import { withoutCommas } from "../support/without-commas.js";

/** How often the page reads a history again. */
const HISTORY_POLL_MS = 12_000;

/** The history of a data point: its plot, its table, and its ranges. */
export function historyFlows(environment: () => TestEnvironment): void {
  const at = () => `/42/${environment().devnet.dataset}/${encodeURIComponent("SPOTPX/ETH-USD")}`;

  test("plots the history and lists it as a table, from the chain's events", async () => {
    const { devnet, browser, chain } = environment();
    const { page, end } = await visit(browser, devnet.operator.url, { at: at() });
    const history = page.getByRole("region", { name: "History", exact: true });
    await history.locator("canvas").waitFor();
    expect(await history.locator("canvas").evaluate(isPainted)).toBe(true);
    await history.getByText(/^Show as a table/).click();
    const shown = await history
      .locator("tbody tr")
      .evaluateAll((rows) =>
        rows.map((row) => [row.querySelector("td")?.textContent, row.querySelector("code")?.title]),
      );
    const events = await chain.getContractEvents({
      address: devnet.dataset,
      abi: datasetAbi,
      eventName: "Updated",
      args: { keyHash: keccak256(spotPriceKey("ETH-USD")) },
      fromBlock: 0n,
      strict: true,
    });
    const stored = events.map(({ args, transactionHash }) => [formatUnits(BigInt(args.value), 18), transactionHash]);
    expect(shown.length).toBeGreaterThan(0);
    expect(stored.toReversed().slice(-shown.length)).toEqual(
      // The table pads all to equally many decimals.
      shown.map(([value, hash]) => [
        withoutCommas(value ?? "")
          .replace(/(\.\d*?)0+$/, "$1")
          .replace(/\.$/, ""),
        hash,
      ]),
    );
    await end();
  });

  test("shows the step that the arrow keys or the pointer choose, and other ranges", async ({ expect }) => {
    const { devnet, browser } = environment();
    const { page, end } = await visit(browser, devnet.operator.url, { at: at() });
    const history = page.getByRole("region", { name: "History", exact: true });
    await history.locator("canvas").waitFor();
    await history.getByText(/^Show as a table/).click();
    const oldest = (await history.locator("tbody tr:last-child td").first().textContent()) ?? "";
    await history.getByRole("slider").focus();
    await page.keyboard.press("Home");
    expect(Number(withoutCommas((await history.locator(".pointed").textContent())?.replace("USD", "") ?? ""))).toBe(
      Number(withoutCommas(oldest)),
    );
    const step = () => history.getByRole("slider").getAttribute("aria-valuenow");
    // The feed may have stored its first value only a moment ago.
    const last = async () => Number(await history.getByRole("slider").getAttribute("aria-valuemax"));
    await expect.poll(last, { timeout: 60_000 }).toBeGreaterThan(0);
    await page.keyboard.press("Home");
    await expect.poll(step).toBe("0");
    await page.keyboard.press("ArrowRight");
    await expect.poll(step).toBe("1");
    await page.keyboard.press("Home");
    const box = await history.locator("canvas").boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) - 40, (box?.y ?? 0) + 50);
    await expect.poll(async () => Number(await step())).toBeGreaterThan(0);
    await history.getByRole("radio", { name: "1 h" }).focus();
    await page.keyboard.press("ArrowRight");
    await history.getByText("Read from the contract's events: the last day.").waitFor();
    await end();
  });

  /** Opens a data point that no feed updates, so that only this test stores its rounds. */
  async function visitUnfed(city: string, prepare: (page: Page) => Promise<void>) {
    const { devnet, browser } = environment();
    const example = devnet.webOracle.examples.find(({ name }) => name === "temperature");
    const key = example?.key.replace(/[^/]+$/, city) ?? "";
    const at = `/42/${example?.dataset}/${encodeURIComponent(key)}`;
    const opened = await visit(browser, devnet.operator.url, { at, prepare });
    const store = async () => {
      await formOf(opened.page).getByRole("button", { name: "Update now" }).click();
      await formOf(opened.page).locator(".result").waitFor();
    };
    return { ...opened, store, history: opened.page.getByRole("region", { name: "History", exact: true }) };
  }

  test("shows a history that takes longer to read than the next round to be stored", async ({ expect }) => {
    const asked: Route[] = [];
    const beganAt = Date.now();
    const { page, history, store, end } = await visitUnfed("Quito", async (page) => {
      await page.route("**/history?*", (route) => void asked.push(route));
    });
    await store();
    await page.getByRole("region", { name: "Last round" }).locator("dl").waitFor();
    // The page gives up a reading after 20 s, and begins another one.
    expect(asked.length).toBeLessThanOrEqual(1 + Math.floor((Date.now() - beganAt) / 20_000));
    await asked.at(-1)?.continue();
    await page.unroute("**/history?*");
    await history.getByText("Read from the contract's events").waitFor();
    await end();
  });

  test("reads a new round at once if none was read for a while", async ({ expect }) => {
    const { page, history, store, end } = await visitUnfed("Cairo", async (page) => {
      await page.addInitScript((every) => {
        const { setTimeout } = window;
        const timer = (run: () => void, ms?: number) =>
          setTimeout(() => (ms === every && "isPollingHeld" in window ? undefined : run()), ms);
        Object.assign(window, { setTimeout: timer });
      }, HISTORY_POLL_MS);
    });
    const rounds = async () => Number(/\((\d+) rounds?\)/.exec((await history.textContent()) ?? "")?.[1] ?? 0);
    await store();
    await expect.poll(rounds, { timeout: 60_000 }).toBeGreaterThan(0);
    const before = await rounds();
    // From now on the history is not polled, and the last reading was long ago.
    await page.evaluate(() => {
      const { now } = Date;
      Object.assign(window, { isPollingHeld: true });
      Object.assign(Date, { now: () => now() + 60_000 });
    });
    await store();
    await expect.poll(rounds, { timeout: 60_000 }).toBe(before + 1);
    await end();
  });
}

/** Returns true if a canvas is not blank. */
const isPainted = (canvas: unknown): boolean => {
  const { width, height, getContext } = canvas as HTMLCanvasElement;
  const context = getContext.call(canvas as HTMLCanvasElement, "2d") as CanvasRenderingContext2D | null;
  return context?.getImageData(0, 0, width, height).data.some((byte) => byte !== 0) ?? false;
};
