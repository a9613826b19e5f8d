import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const at = (path: string) => new URL(`../../${path}`, import.meta.url);

test("the guide to the Web Oracle shows the spec that the devnet publishes", () => {
  const guide = readFileSync(at("docs/WebOracle.md"), "utf8");
  const shown = /<!-- (devnet\/specs\/\w+\.json) -->\n```json\n([\s\S]*?)```/.exec(guide);
  expect(shown?.[2]).toBe(readFileSync(at(shown?.[1] ?? ""), "utf8"));
});
