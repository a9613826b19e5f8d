import { readFileSync } from "node:fs";
import { CHARACTER_CLASSES, RequestSpec, SourceSpec, Variable } from "@dataset-oracle/protocol/request-spec";
import { describe, expect, it } from "vitest";

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const guide = readFileSync(at("docs/WebOracle.md"), "utf8");

describe("the guide to the Web Oracle", () => {
  it("shows the spec that the devnet publishes", () => {
    const shown = /<!-- (devnet\/specs\/\w+\.json) -->\n```json\n([\s\S]*?)```/.exec(guide);
    expect(shown?.[2]).toBe(readFileSync(at(shown?.[1] ?? ""), "utf8"));
  });

  it.each([
    ["spec", RequestSpec],
    ["variable", Variable],
    ["source", SourceSpec],
  ] as const)("has a row for every setting of a %s, and for no other", (_, { properties }) => {
    const tables = guide.split(/^\n/m).filter((block) => block.includes("|---|"));
    const names = tables.map((table) =>
      table.split("\n").flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name)),
    );
    expect(names.map((table) => table.toSorted())).toContainEqual(Object.keys(properties).toSorted());
  });

  it("names every class of characters", () => {
    const row = guide.split("\n").find((line) => line.startsWith("| `characters`"));
    expect([...(row ?? "").matchAll(/`([a-z-]+)`/g)].map(([, name]) => name).slice(1)).toEqual(CHARACTER_CLASSES);
  });
});
