import type { DataPointAnswer } from "@dataset-oracle/protocol/http-schemas/data";
import type { HistoryAnswer } from "@dataset-oracle/protocol/http-schemas/history";
import type { OverviewAnswer, ServedPoint } from "@dataset-oracle/protocol/http-schemas/overview";
import type { Locator, Page } from "playwright-core";
import { test } from "vitest";
import { postDataRequest } from "../../../../devnet/test/post-data-request.js";
import { publishStrangersSpec, STRANGERS_TITLE } from "../support/strangers-spec.js";
import { DESK, PHONE, type TestEnvironment, visit } from "../support/visit.js";

/** What somebody sees who has never been here. */
export function firstVisitFlows(environment: () => TestEnvironment): void {
  test.for([PHONE, DESK])(
    "at $width x $height one screen says how to see a value, request one and read it",
    async (size, { expect }) => {
      const { page, end } = await visit(environment(), "/", { size });
      const expectOnScreen = async (shown: Locator) => {
        await shown.waitFor();
        const places = () => shown.evaluate((element) => element.getBoundingClientRect().toJSON() as DOMRect);
        await expect.poll(async () => (await places()).top).toBeGreaterThanOrEqual(0);
        await expect.poll(async () => (await places()).bottom).toBeLessThanOrEqual(size.height);
      };
      const [see, request, read] = ["See a value", "Request a fresh one", "Read it in a contract"].map((name) =>
        page.getByRole("link", { name }),
      ) as [Locator, Locator, Locator];
      for (const step of [see, request, read]) await expectOnScreen(step);
      const [update, code] = [page.getByRole("button", { name: "Update now" }), page.locator("pre").first()];
      await request.click();
      await expectOnScreen(update);
      await page.goBack();
      await read.click();
      await expectOnScreen(page.getByRole("heading", { name: "Read it in a contract" }));
      expect((await code.boundingBox())?.y).toBeLessThan(size.height / 2);
      await page.goBack();
      await see.click();
      await expectOnScreen(page.locator(".big"));
      await expectOnScreen(update);
      await end();
    },
  );

  test("the age's form, round, spread and agreed are explained in a sentence each, on demand", async ({ expect }) => {
    const { page, expectAccessible, end } = await visit(environment(), "/");
    const explain = async (name: string, words: RegExp) => {
      const explanation = page.locator(".explanation", { hasText: words });
      expect(await explanation.isVisible()).toBe(false);
      await page
        .getByRole("button", { name: `What “${name}” means` })
        .first()
        .click();
      await explanation.waitFor();
      expect(await explanation.textContent()).toMatch(/^[^.]+\.$/);
      await page.keyboard.press("Escape");
      await explanation.waitFor({ state: "hidden" });
    };
    await explain("24 s of 30 s", /24 s old.*30 s old at the latest/);
    await page.goto(`${environment().devnet.operator.url}/#/42/${environment().devnet.dataset}/SPOTPX%2FETH-USD`);
    await explain("24 s of 30 s", /24 s old/);
    await explain("Round", /second/);
    await explain("Spread", /highest.*lowest/);
    await explain("Agreed", /tolerance/);
    await page.getByRole("button", { name: "What “Round” means" }).first().click();
    await expectAccessible();
    await end();
  });

  test("a number has one spelling in the table, the heading, the plot, the history and the last round", async ({
    expect,
  }) => {
    const value = `${3_021_500n * 10n ** 15n}`;
    const rewrite = async <T>(page: Page, path: string, change: (answer: T) => void) =>
      page.route(
        (url) => url.pathname === path,
        async (route) => {
          const response = await route.fetch();
          const json = (await response.json()) as T;
          change(json);
          await route.fulfill({ response, json });
        },
      );
    const setValue = (point: { value: string }) => Object.assign(point, { value });
    const { page, end } = await visit(environment(), "/", {
      prepare: async (opened) => {
        await rewrite<OverviewAnswer>(opened, "/overview", ({ networks }) => {
          const points = networks.flatMap(({ datasets }) => datasets.flatMap((one) => one.points ?? []));
          for (const point of points.filter(({ format }) => format?.decimals === 18)) setValue(point as ServedPoint);
        });
        await rewrite<DataPointAnswer>(opened, "/data", (answer) => {
          for (const one of [answer, ...(answer.last_update?.reports ?? [])]) setValue(one);
        });
        await rewrite<HistoryAnswer>(opened, "/history", ({ updates }) => updates.forEach(setValue));
      },
    });
    const spellings = async (shown: Locator) => {
      await shown.first().waitFor();
      return new Set((await shown.allTextContents()).map((text) => /[\d.,]*\d/.exec(text)?.[0]));
    };
    const one = new Set(["3,021.50"]);
    expect(await spellings(page.getByRole("region", { name: "Financial" }).locator("td.value"))).toEqual(one);
    await page.getByRole("link", { name: "See a value" }).click();
    expect(await spellings(page.locator(".big"))).toEqual(one);
    expect(await spellings(page.locator(".pointed"))).toEqual(one);
    await page.getByText(/^Show as a table/).click();
    for (const name of ["History", "Last round"]) {
      const cells = page.getByRole("region", { name, exact: true }).locator("tbody td:nth-child(2)");
      expect(await spellings(cells)).toEqual(one);
    }
    await end();
  });

  test("a plot has the marks of its range, however little of it has data, and there is none of a single round", async ({
    expect,
  }) => {
    const { devnet } = environment();
    const { page, end } = await visit(environment(), `/42/${devnet.dataset}/SPOTPX%2FETH-USD`, {
      prepare: (opened) =>
        opened.addInitScript(() => {
          const marks: string[] = [];
          Object.assign(globalThis, { marks });
          const { fillText } = CanvasRenderingContext2D.prototype;
          CanvasRenderingContext2D.prototype.fillText = function (...drawn) {
            marks.push(drawn[0]);
            fillText.apply(this, drawn);
          };
        }),
    });
    const history = page.getByRole("region", { name: "History", exact: true });
    await history.locator("canvas").waitFor();
    await page.evaluate("marks.length = 0");
    await history.getByRole("radio", { name: "1 w" }).check();
    await history.getByText("Read from the contract's events: the last week.").waitFor();
    const marks = () => page.evaluate<string[]>("marks");
    await expect.poll(marks).toContainEqual(expect.stringMatching(/^[A-Z][a-z]{2} \d+$/));
    await page.evaluate("marks.length = 0");
    await expect.poll(marks, { timeout: 20_000 }).toContainEqual(expect.stringMatching(/^[A-Z][a-z]{2} \d+$/));
    expect((await marks()).filter((mark) => mark.includes(":"))).toEqual([]);

    const [{ dataset = "", key = "" } = {}] = devnet.webOracle.examples;
    const request = { network_id: 42, dataset, key: key.replace("London", "Dakar"), broadcast: true };
    await expect.poll(async () => (await postDataRequest(devnet, request)).status).toBe(200);
    await page.goto(`${devnet.operator.url}/#/42/${dataset}/${encodeURIComponent(request.key)}`);
    await history.getByText("There is nothing to plot: the last week has fewer than two values.").waitFor();
    await history.getByText("Show as a table (1 round)").click();
    expect(await history.locator("tbody tr").count()).toBe(1);
    expect(await history.locator("canvas").count()).toBe(0);
    await end();
  });

  test("the Web Oracle's card lists the named specs and takes their arguments, with the spec's hint for a wrong one", async ({
    expect,
  }) => {
    const { webOracle, operator } = environment().devnet;
    const document = webOracle.examples.find(({ name }) => name === "document")?.key ?? "";
    const { page, expectAccessible, end } = await visit(environment(), "/");
    const card = page.getByRole("region", { name: "Web Oracle bytes" });
    await card.getByRole("listitem").filter({ hasText: "Whether it rains in a city" }).waitFor();
    const guide = card.getByRole("link", { name: "the guide" });
    expect(await guide.getAttribute("href")).toBe(`${operator.url}/guide/web-oracle/`);
    const spec = card.getByRole("listitem").filter({ hasText: "The SHA-256 of a document" });
    expect(await spec.textContent()).toContain("from api.weather.example");
    const [archive, number] = [
      spec.getByRole("textbox", { name: "archive" }),
      spec.getByRole("textbox", { name: "number" }),
    ];
    await archive.fill("all storms");
    await spec.getByText('The argument archive has characters outside the class "unreserved".').waitFor();
    expect(await archive.getAttribute("aria-invalid")).toBe("true");
    await archive.fill("storms");
    await number.fill("007");
    await spec.getByText("The argument number has a leading zero.").waitFor();
    await spec.getByRole("button", { name: "See the value" }).click();
    expect(await number.evaluate((field) => field === globalThis.document.activeElement)).toBe(true);
    await expectAccessible();
    await number.fill("7");
    await number.press("Enter");
    await page.getByRole("heading", { level: 1, name: "The SHA-256 of a document" }).waitFor();
    expect(decodeURIComponent(new URL(page.url()).hash.split("/").at(-1) ?? "")).toBe(document);
    await end();
  });

  test("a stranger's title is neither on the home page nor in its data, and unreviewed where it is looked up", async ({
    expect,
  }) => {
    const { devnet } = environment();
    const { hash } = await publishStrangersSpec(environment());
    const dataset = devnet.webOracle.numbers;
    const request = { network_id: 42, dataset, key: `WEB/${hash}/Paris`, broadcast: true };
    await expect.poll(async () => (await postDataRequest(devnet, request)).status).toBe(200);
    const { page, expectAccessible, end } = await visit(environment(), "/");
    const card = page.getByRole("region", { name: "Web Oracle number" });
    await card.getByRole("listitem").filter({ hasText: "The air temperature in a city" }).waitFor();
    const data = await (await fetch(`${devnet.operator.url}/overview`)).text();
    for (const text of [await page.locator("body").textContent(), data]) {
      expect(text).toContain("The air temperature in a city");
      for (const word of [STRANGERS_TITLE, "EVIL", "Paris", hash]) expect(text).not.toContain(word);
    }
    const id = card.getByLabel("Any other key, or the id of a spec");
    await id.fill(`0x${hash}`);
    await card.getByRole("button", { name: "Look it up" }).click();
    const notice = page.locator(".note", { hasText: "Unreviewed request spec" });
    await notice.getByText(`calls it “${STRANGERS_TITLE}”`).waitFor();
    await page.getByLabel("city").fill("X");
    await page.getByText("The argument city has 1 character, but must have 2 to 12.").waitFor();
    await expectAccessible();
    await page.getByLabel("city").fill("Paris");
    await page.getByRole("button", { name: "See the value" }).click();
    await page.locator(".big", { hasText: /^\d+\.\d\d EVIL$/ }).waitFor();
    await notice.waitFor();
    expect(await page.locator("h1").textContent()).not.toContain(STRANGERS_TITLE);
    expect(await page.title()).not.toContain(STRANGERS_TITLE);
    await end();
  });
}
