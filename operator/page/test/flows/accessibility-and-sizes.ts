import { test } from "vitest";
import { publishStrangersSpec } from "../support/strangers-spec.js";
import { DESK, PHONE, type TestEnvironment, visit } from "../support/visit.js";

const TARGET_PX = 40;

/** The page in both colour schemes, on a phone and on a desk, and for screen readers. */
export function accessibilityFlows(environment: () => TestEnvironment): void {
  const webOracle = () => environment().devnet.webOracle;
  const specs = () => `/42/${webOracle().numbers}`;
  const paths: Readonly<Record<string, () => string | Promise<string>>> = {
    home: () => "/",
    dataset: () => `/42/${environment().devnet.dataset}`,
    "dataset of specs": specs,
    point: () => `/42/${environment().devnet.dataset}/SPOTPX%2FETH-USD`,
    "point of words": () => `/42/${webOracle().words}/${encodeURIComponent(webOracle().examples[1]?.key ?? "")}`,
    "point without data": () =>
      `${specs()}/${encodeURIComponent(`${webOracle().examples[0]?.key}`.replace("London", "Accra"))}`,
    "stranger's spec": async () => `${specs()}/WEB%2F${(await publishStrangersSpec(environment())).hash}`,
  };

  // Each page is opened once: only the colours and the size change.
  test.for(Object.keys(paths))(
    "of %s: axe finds nothing, nothing is cut, and targets are large enough for a finger, on a phone and on a desk",
    async (name, { expect }) => {
      const { page, expectAccessible, end } = await visit(environment(), await paths[name]?.(), { size: PHONE });
      await page.getByRole("heading", { level: 2 }).first().waitFor();
      if (name === "point") {
        await page.locator("canvas").waitFor();
        await page.getByText(/^Show as a table/).click();
      }
      await expectAccessible();
      await page.emulateMedia({ colorScheme: "dark" });
      await expectAccessible(["color-contrast"]);
      for (const size of [PHONE, DESK]) {
        await page.setViewportSize(size);
        // A plot takes its width after its first frame.
        await expect.poll(() => page.evaluate(findCut, size.width), { message: `${size.width}` }).toEqual([]);
        expect(await page.evaluate(findSmall, TARGET_PX), `${size.width}`).toEqual([]);
      }
      await end();
    },
  );

  test("of a phone: the table of providers has its whole numbers and all of its columns", async ({ expect }) => {
    const { page, end } = await visit(environment(), await paths.point?.(), { size: PHONE });
    const table = page.getByRole("region", { name: "Last round" }).getByRole("table");
    await table.getByText("Agreed, last").waitFor();
    const cells = table.locator("th, td");
    const shown = await cells.evaluateAll((all) =>
      all.map((cell) => {
        const { left, right, height } = cell.getBoundingClientRect();
        return { left, right, height };
      }),
    );
    expect(shown.length).toBe(5 * 4);
    // A page that is too wide would be shown smaller, with a wider window.
    const isCut = ({ left, right, height }: (typeof shown)[number]) => left < 0 || right > PHONE.width || height === 0;
    expect(shown.filter(isCut)).toEqual([]);
    const lines = await table.locator("tbody td:nth-child(2)").evaluateAll((all) =>
      all.map((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        return new Set(Array.from(text.getClientRects(), ({ top }) => top)).size;
      }),
    );
    expect(lines).toEqual([1, 1, 1, 1]);
    await end();
  });

  test("of a phone: the code has all of its lines, with the one that reads the price", async ({ expect }) => {
    const { page, end } = await visit(environment(), await paths.point?.(), { size: PHONE });
    const code = page.getByRole("region", { name: "Read it in a contract" }).locator("pre").first();
    expect(await code.textContent()).toContain("querySpotPriceWithExpiry");
    const isWhole = await code.evaluate((box) => {
      const [outer, inner] = [box.getBoundingClientRect(), box.firstElementChild?.getBoundingClientRect()];
      return inner !== undefined && inner.right <= outer.right && inner.bottom <= outer.bottom;
    });
    expect(isWhole).toBe(true);
    await end();
  });
}

/** Finds what is outside of a window so wide, or has more content than it shows. Runs in the page. */
function findCut(width: number): string[] {
  const found: string[] = [];
  for (const element of document.querySelectorAll<HTMLElement>("body *")) {
    if (!element.checkVisibility() || element.closest(".unseen")) continue;
    const { left, right } = element.getBoundingClientRect();
    const { overflowX, overflowY } = getComputedStyle(element);
    const isClipped = overflowX !== "visible" || overflowY !== "visible";
    const isTooSmall = element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1;
    if (left < -0.5 || right > width + 0.5 || (isClipped && isTooSmall)) found.push(element.outerHTML.slice(0, 120));
  }
  return found;
}

/** Finds controls that a finger would miss. Runs in the page. */
function findSmall(px: number): string[] {
  // A radio button's label is its target.
  const targets = "a, button, summary, label:has(input), input:not([type=radio]), [role=slider]";
  return [...document.querySelectorAll(targets)]
    .filter((target) => target.checkVisibility() && !target.classList.contains("unseen"))
    .filter((target) => target.getBoundingClientRect().height < px)
    .map(({ outerHTML }) => outerHTML.slice(0, 120));
}
