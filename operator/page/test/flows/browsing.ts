import { simulateQuery } from "@dataset-oracle/protocol";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import type { OverviewAnswer } from "@dataset-oracle/protocol/http-schemas/overview";
import type { Page } from "playwright-core";
import { formatEther, formatUnits, getAddress, keccak256 } from "viem";
import { test } from "vitest";
import { postDataRequest } from "../../../../devnet/test/post-data-request.js";
import { type TestEnvironment, visit } from "../support/visit.js";

const KEY = "SPOTPX/ETH-USD";
/** Nothing answers there: the page only links to it. */
const EXPLORER = "https://explorer.example";

/** Reads a number as the page writes it. */
const numberOf = (text: string | null | undefined) =>
  Number((text ?? "").replace("USD", "").replaceAll(",", "").trim());

/** Browsing the networks, datasets and data points. */
export function browsingFlows(environment: () => TestEnvironment): void {
  const datasetAt = () => `/42/${environment().devnet.dataset}`;
  const pointAt = () => `${datasetAt()}/${encodeURIComponent(KEY)}`;

  test("the network, every dataset and every data point, with value, status, age and price", async ({ expect }) => {
    const { devnet, chain } = environment();
    const { page, end } = await visit(environment());
    await page.getByRole("heading", { name: "Devnet" }).waitFor();
    expect(await page.getByRole("heading", { level: 3 }).allTextContents()).toEqual([
      "Financial",
      "Web Oracle number",
      "Web Oracle bytes",
    ]);
    const card = page.getByRole("region", { name: "Financial" });
    const said = await card.textContent();
    expect(said).toContain(`${formatEther(BigInt(devnet.queryPrice))} ETH a query`);
    expect(said).toContain("3 of 4 providers must sign");
    expect(await page.locator("header").textContent()).toContain("SIMULATED: no value on Devnet is real");
    await card.getByRole("button", { name: "Show all 29" }).click();
    expect(await card.locator("tbody tr").count()).toBe(29);

    const row = card.locator("tr", { hasText: "ETH-USD" });
    expect(await row.textContent()).toMatch(/ETH-USD.*USD.*OK.*\d+ s of 30 s/);
    const { value } = await simulateQuery(chain, { dataset: devnet.dataset, key: KEY });
    // The value may have changed in the meantime, by less than 5%.
    const shown = numberOf(await row.locator(".value").textContent());
    expect(Math.abs(shown / Number(formatUnits(value, 18)) - 1)).toBeLessThan(0.05);
    await end();
  });

  test("ages and values go on after a browser has translated the page, and while lists are searched then", async ({
    expect,
  }) => {
    const { page, end } = await visit(environment(), datasetAt());
    const row = page.locator("tr", { hasText: "ETH-USD" });
    await row.waitFor();
    // As Chrome does: an element in an element takes the place of each text.
    const translate = () =>
      page.evaluate(() => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const texts: Node[] = [];
        while (walker.nextNode()) texts.push(walker.currentNode);
        for (const text of texts) {
          if (text.textContent?.trim() === "" || text.parentNode?.nodeName === "FONT") continue;
          const outer = document.createElement("font");
          outer.appendChild(document.createElement("font")).textContent = text.textContent;
          text.parentNode?.insertBefore(outer, text);
          text.parentNode?.removeChild(text);
        }
      });
    for (let times = 0; times < 2; times++) {
      await translate();
      const [age, value] = [await row.locator(".age").textContent(), await row.locator(".value").textContent()];
      await expect.poll(() => row.locator(".age").textContent()).not.toBe(age);
      await expect.poll(() => row.locator(".value").textContent(), { timeout: 60_000 }).not.toBe(value);
      expect(await row.textContent()).toMatch(/^SPOTPX\/ ?ETH-USD ?[\d,.]+ ?USD ?OK ?\d+ s of 30 s$/);
    }
    const search = page.getByRole("searchbox");
    await search.fill("xrp");
    expect(await page.locator("tbody th").allTextContents()).toEqual(["SPOTPX/XRP-USD", "SPOTPX/XRP-EUR"]);
    await search.fill("");
    await row.waitFor();
    await end();
  });

  test("ages are right by a clock that is ten minutes ahead, after an hour's sleep, and once the operator is back", async ({
    expect,
  }) => {
    const prepare = (page: Page) => page.clock.install({ time: Date.now() + 600_000 });
    const { page, end } = await visit(environment(), datasetAt(), { prepare, problems: ["ERR_FAILED"] });
    const row = page.locator("tr", { hasText: "ETH-USD" });
    const isFresh = () => expect.poll(() => row.locator(".age").textContent()).toMatch(/^[1-5]?\d s of 30 s$/);
    await isFresh();
    await page.clock.fastForward(3_600_000);
    await isFresh();
    await page.route("**/overview*", (route) => route.abort());
    await page.getByText("The operator does not answer.").waitFor();
    await page.unroute("**/overview*");
    await page.getByText("The operator does not answer.").waitFor({ state: "hidden" });
    await isFresh();
    await end();
  });

  test("long lists of keys are searched", async ({ expect }) => {
    const { page, end } = await visit(environment(), datasetAt());
    const keys = page.getByRole("region", { name: "Keys" });
    await keys.getByRole("searchbox").fill("xrp");
    expect(await keys.locator("tbody th").allTextContents()).toEqual(["SPOTPX/XRP-USD", "SPOTPX/XRP-EUR"]);
    await keys.getByRole("searchbox").fill("nothing like it");
    await keys.getByText("No key contains “nothing like it”.").waitFor();
    await end();
  });

  test("the signers of the last round and their spread, as on chain, the update policy, and links to an explorer", async ({
    expect,
  }) => {
    const { devnet, chain } = environment();
    const { page, end } = await visit(environment(), pointAt());
    const round = page.getByRole("region", { name: "Last round" });
    await round.getByText("4 of 4 providers").waitFor();
    const signers = await round
      .locator("tbody th code")
      .evaluateAll((codes) => codes.map((code) => code.getAttribute("title") ?? ""));
    expect(signers.toSorted()).toEqual(devnet.providers.map(({ address }) => address).toSorted());
    expect(await round.locator("dl").textContent()).toMatch(/Spread \?[\d.,]+ \(\d+\.\d{3}%\)/);
    const hash = (await round.locator("dd code").first().getAttribute("title")) as `0x${string}`;
    expect(getAddress((await chain.getTransaction({ hash })).from)).toBe(devnet.operator.address);
    expect(await page.locator("dl", { hasText: "Deviation threshold" }).textContent()).toMatch(
      /Deviation threshold [\d.]+%Heartbeat 30 sNext update due (in )?\d+ s/,
    );
    expect(await page.locator("main a[target=_blank]").count()).toBe(0);

    await page.route(/\/overview\?/, async (route) => {
      const response = await route.fetch();
      const { time, networks } = (await response.json()) as OverviewAnswer;
      const linked = networks.map((network) => ({ ...network, explorer_url: EXPLORER }));
      await route.fulfill({ response, json: { time, networks: linked } });
    });
    const link = page.getByRole("region", { name: "Properties" }).locator("a[target=_blank]");
    expect(await link.getAttribute("href")).toBe(`${EXPLORER}/address/${devnet.dataset}`);
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    expect(await round.locator("dd a").first().getAttribute("href")).toMatch(/\/tx\/0x[0-9a-f]{64}$/);
    await end();
  });

  test("Web Oracle values with their scale and their sources, as soon as they are stored", async ({ expect }) => {
    const { devnet, chain } = environment();
    const { page, end } = await visit(environment());
    await page.getByRole("heading", { name: "Devnet" }).waitFor();
    for (const { dataset, key } of devnet.webOracle.examples) {
      // The providers of a busy machine do not always sign in time.
      const request = { network_id: 42, dataset, key, broadcast: true };
      await expect.poll(async () => (await postDataRequest(devnet, request)).status).toBe(200);
    }
    const [temperature] = devnet.webOracle.examples.filter(({ name }) => name === "temperature");
    if (temperature === undefined) throw new Error("The devnet has no temperature.");
    const kelvin = Number(formatUnits((await simulateQuery(chain, temperature)).value, 2)).toFixed(2);
    const numbers = page.getByRole("region", { name: "Web Oracle number" });
    const london = numbers.locator("tr", { hasText: "The air temperature in a city" }).filter({ hasText: "London" });
    await london.locator("td.value", { hasText: `${kelvin} K` }).waitFor();
    expect(await london.textContent()).toContain("on request");
    const words = page.getByRole("region", { name: "Web Oracle bytes" });
    const rain = words.locator("tr", { hasText: "Whether it rains" }).filter({ hasText: "London" });
    await rain.locator(".value", { hasText: /^(true|false)/ }).waitFor();
    const sky = words.locator("tr", { hasText: "São Paulo" });
    expect(await sky.locator(".value").textContent()).toMatch(/^[a-z ]+$/);
    await sky.getByRole("link").click();
    await page.getByText("on request only").waitFor();
    await page.getByText("api.weather.example").waitFor();
    // Words are listed and not plotted.
    const history = page.getByRole("region", { name: "History", exact: true });
    await history.getByRole("table").waitFor();
    expect(await history.locator("canvas").count()).toBe(0);
    await end();
  });

  test("the history as a plot and as a table, with the chosen step, and other ranges", async ({ expect }) => {
    const { devnet, chain } = environment();
    const { page, end } = await visit(environment(), pointAt());
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
    const stored = events.map(({ args, transactionHash }) => [
      Number(formatUnits(BigInt(args.value), 18)),
      transactionHash,
    ]);
    expect(shown.length).toBeGreaterThan(0);
    expect(stored.toReversed().slice(-shown.length)).toEqual(shown.map(([value, hash]) => [numberOf(value), hash]));

    const slider = history.getByRole("slider");
    const sliderValue = async (name: string) => Number(await slider.getAttribute(`aria-value${name}`));
    // The feed may have stored its first value only a moment ago.
    await expect.poll(() => sliderValue("max")).toBeGreaterThan(0);
    await slider.focus();
    await page.keyboard.press("Home");
    await expect.poll(() => sliderValue("now")).toBe(0);
    const oldest = numberOf(await history.locator("tbody tr:last-child td").first().textContent());
    expect(numberOf(await history.locator(".pointed").textContent())).toBe(oldest);
    const box = await history.locator("canvas").boundingBox();
    await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) - 40, (box?.y ?? 0) + 50);
    await expect.poll(() => sliderValue("now")).toBeGreaterThan(0);
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
