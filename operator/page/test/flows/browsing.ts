import { simulateQuery } from "@dataset-oracle/protocol";
import { formatEther, formatUnits, getAddress } from "viem";
import { expect, test } from "vitest";
import { postDataRequest } from "../../../../devnet/test/post-data-request.js";
import { formatExact } from "../../src/format/values.js";
import { EXPLORER, type TestEnvironment } from "../support/test-environment.js";
import { visit } from "../support/visit.js";
import { withoutCommas } from "../support/without-commas.js";

const KEY = "SPOTPX/ETH-USD";

/** Browsing the networks, datasets and data points. */
export function browsingFlows(environment: () => TestEnvironment): void {
  const pointAt = (key: string, dataset = environment().devnet.dataset) => `/42/${dataset}/${encodeURIComponent(key)}`;

  test("names the network, every dataset and every data point, with value, status, age and price", async () => {
    const { devnet, browser, chain } = environment();
    const { page, picture, end } = await visit(browser, devnet.operator.url);
    await page.getByRole("heading", { name: "Devnet" }).waitFor();
    expect(await page.getByRole("heading", { level: 3 }).allTextContents()).toEqual([
      "Financial",
      "Web Oracle number",
      "Web Oracle bytes",
    ]);
    const card = page.getByRole("region", { name: "Financial" });
    expect(await card.getByText("a query").textContent()).toBeTruthy();
    expect(await card.textContent()).toContain(`${formatEther(BigInt(devnet.queryPrice))} ETH a query`);
    expect(await card.textContent()).toContain("3 of 4 providers must sign");
    expect(await page.locator("header").textContent()).toContain("SIMULATED: no value on Devnet is real");
    await card.getByRole("button", { name: "Show all 29" }).click();
    expect(await card.locator("tbody tr").count()).toBe(29);

    const row = card.locator("tr", { hasText: "ETH-USD" });
    expect(await row.textContent()).toMatch(/ETH-USD.*USD.*OK.*\d+ s of 30 s/);
    const { value } = await simulateQuery(chain, { dataset: devnet.dataset, key: KEY });
    // The value may have changed in the meantime, by less than 5%.
    const shown = Number(withoutCommas(await row.locator(".value").textContent()).replace(" USD", ""));
    expect(Math.abs(shown / Number(formatUnits(value, 18)) - 1)).toBeLessThan(0.05);
    await picture("home-light");
    await end();
  });

  test("searches long lists of keys, and copies the contract's address", async () => {
    const { devnet, browser } = environment();
    const { page, copied, picture, end } = await visit(browser, devnet.operator.url, { at: `/42/${devnet.dataset}` });
    const keys = page.getByRole("region", { name: "Keys" });
    await keys.getByRole("searchbox").fill("xrp");
    expect(await keys.locator("tbody th").allTextContents()).toEqual(["SPOTPX/XRP-USD", "SPOTPX/XRP-EUR"]);
    await keys.getByRole("searchbox").fill("nothing like it");
    await keys.getByText("No key contains “nothing like it”.").waitFor();
    await keys.getByRole("searchbox").fill("");
    await page.getByRole("button", { name: "Copy the contract address" }).click();
    await page.getByRole("status").getByText("Copied the contract address.").waitFor();
    expect(await copied()).toBe(devnet.dataset);
    await picture("dataset-light");
    await end();
  });

  test("shows the signers of the last round and their spread, as on chain, and the update policy", async () => {
    const { devnet, browser } = environment();
    const { page, copied, picture, end } = await visit(browser, devnet.operator.url, { at: pointAt(KEY) });
    const round = page.getByRole("region", { name: "Last round" });
    await round.getByText("4 of 4 providers").waitFor();
    const signers = await round
      .locator("tbody th code")
      .evaluateAll((codes) => codes.map((code) => code.getAttribute("title") ?? ""));
    expect(signers.toSorted()).toEqual(devnet.providers.map(({ address }) => address).toSorted());
    expect(await round.locator("dl").textContent()).toMatch(/Spread[\d.,]+ \(\d+\.\d{3}%\)/);
    for (const text of await round.locator("tbody td:nth-child(3)").allTextContents()) {
      expect(text).toMatch(/^[+−]?\d+\.\d{3}%$/);
    }
    const hash = (await round.locator("dd code").first().getAttribute("title")) as `0x${string}`;
    const sent = await environment().chain.getTransaction({ hash });
    expect(getAddress(sent.from)).toBe(devnet.operator.address);
    await picture("point-light");

    await page.getByText("Deviation threshold").waitFor();
    expect(await page.locator("dl", { hasText: "Deviation threshold" }).textContent()).toMatch(
      /^Deviation threshold[\d.]+%Heartbeat30 sNext update due(in )?\d+ s/,
    );
    await round.getByText("Provider 4", { exact: true }).waitFor();
    expect(await round.locator("tbody tr", { hasText: "Provider 1" }).textContent()).toMatch(/(\d+) of \1$/);
    await page.getByRole("button", { name: "Copy the key", exact: true }).click();
    expect(await copied()).toBe(KEY);
    expect(await page.locator("main a[target=_blank]").count()).toBe(0);
    await end();
  });

  test("works under a base path, links to the explorer that the operator names, and reports unknown addresses", async () => {
    const { lonely, devnet, browser } = environment();
    const { page, end } = await visit(browser, lonely.url, { at: pointAt(KEY) });
    const link = page.getByRole("region", { name: "Properties" }).locator("a[target=_blank]");
    expect(await link.getAttribute("href")).toBe(`${EXPLORER}/address/${devnet.dataset}`);
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
    const round = page.getByRole("region", { name: "Last round" });
    await round.locator("dd a").first().waitFor();
    expect(await round.locator("dd a").first().getAttribute("href")).toMatch(
      /^https:\/\/explorer\.example\/tx\/0x[0-9a-f]{64}$/,
    );
    await page.goto(`${lonely.url}/#/42/0x0000000000000000000000000000000000000001`);
    await page
      .getByRole("heading", { name: "This operator does not serve 0x0000000000000000000000000000000000000001" })
      .waitFor();
    await page.goto(`${lonely.url}/#/nonsense`);
    await page.getByRole("heading", { name: "This operator does not serve a page at this address" }).waitFor();
    await end();
  });

  test("shows a new value without a reload", async () => {
    const { devnet, browser } = environment();
    const { page, end } = await visit(browser, devnet.operator.url, { at: pointAt("SPOTPX/BTC-USD") });
    const round = page.getByRole("region", { name: "Last round" });
    await round.locator("dd code").first().waitFor();
    const { answer } = await postDataRequest(devnet, {
      network_id: 42,
      dataset: devnet.dataset,
      key: "SPOTPX/BTC-USD",
      broadcast: true,
    });
    await round.locator(`code[title="${answer.transaction_hash}"]`).waitFor();
    const value = formatExact(BigInt(answer.value), 18);
    await page.locator(".big", { hasText: `${value} USD` }).waitFor();
    await end();
  });

  test("shows Web Oracle values with their scale and their sources", async () => {
    const { devnet, browser } = environment();
    const { examples } = devnet.webOracle;
    const posted = await Promise.all(
      examples.map(async ({ name, dataset, key }) => {
        return [
          name,
          (await postDataRequest(devnet, { network_id: 42, dataset, key, broadcast: true })).answer.value,
        ] as const;
      }),
    );
    const values = new Map(posted);
    const { page, picture, end } = await visit(browser, devnet.operator.url);
    const numbers = page.getByRole("region", { name: "Web Oracle number" });
    const kelvin = formatUnits(BigInt(values.get("temperature") ?? 0), 2);
    const london = numbers.locator("tr", { hasText: "The air temperature in a city" }).filter({ hasText: "London" });
    await london.waitFor();
    expect(await london.locator("td.value").textContent()).toBe(`${Number(kelvin).toFixed(2)} K`);
    expect(await numbers.textContent()).toContain("on request");
    const words = page.getByRole("region", { name: "Web Oracle bytes" });
    const rain = words.locator("tr", { hasText: "Whether it rains" }).filter({ hasText: "London" });
    expect(await rain.locator(".value").textContent()).toMatch(/^(true|false)/);
    const sky = words.locator("tr", { hasText: "São Paulo" });
    expect(await sky.locator(".value").textContent()).toMatch(/^[a-z ]+$/);
    await sky.getByRole("link").click();
    await page.getByText("on request only").waitFor();
    await page.getByText("api.weather.example").waitFor();
    await page.getByRole("region", { name: "History", exact: true }).getByRole("table").waitFor();
    expect(await page.getByRole("region", { name: "History", exact: true }).locator("canvas").count()).toBe(0);
    await picture("point-of-words-light");
    await end();
  });

  test("lists the published request specs of a dataset with the form of their keys, and links to the guide", async () => {
    const { devnet, browser } = environment();
    const [example] = devnet.webOracle.examples.filter(({ name }) => name === "temperature");
    const dataset = devnet.webOracle.numbers;
    const { page, copied, picture, end } = await visit(browser, devnet.operator.url, { at: `/42/${dataset}` });
    const specs = page.getByRole("region", { name: "Request specs" });
    const spec = specs.getByRole("listitem").filter({ hasText: "The air temperature in a city" });
    expect(await spec.textContent()).toContain("api.weather.example");
    await spec.getByRole("button", { name: "Copy the key of “The air temperature in a city”" }).click();
    expect(await copied()).toBe(`${example?.key.split("/").slice(0, 2).join("/")}/city`);
    expect(await specs.getByRole("link", { name: "the guide" }).getAttribute("href")).toBe(
      `${devnet.operator.url}/guide/web-oracle/`,
    );
    await picture("dataset-of-specs-light");
    await end();
  });
}
