import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { formatUnits, keccak256 } from "viem";
import { test } from "vitest";
import type { TestEnvironment } from "../support/test-environment.js";
import { visit } from "../support/visit.js";
import { withoutCommas } from "../support/without-commas.js";

/** The history of a data point: its plot, its table, and its ranges. */
export function historyFlows(environment: () => TestEnvironment): void {
  const at = () => `/42/${environment().devnet.dataset}/${encodeURIComponent("SPOTPX/ETH-USD")}`;

  test("plots the history, lists it as a table, and shows the chosen step and other ranges", async ({ expect }) => {
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
}

/** Returns true if a canvas is not blank. */
const isPainted = (canvas: unknown): boolean => {
  const { width, height, getContext } = canvas as HTMLCanvasElement;
  const context = getContext.call(canvas as HTMLCanvasElement, "2d") as CanvasRenderingContext2D | null;
  return context?.getImageData(0, 0, width, height).data.some((byte) => byte !== 0) ?? false;
};
