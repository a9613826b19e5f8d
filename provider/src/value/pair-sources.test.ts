import { expect, test } from "vitest";
import { loadSources, SHIPPED_SOURCES } from "../source/load-sources.js";
import { sourcesOfPair } from "./spot-price.js";

test("a source of a converted price counts only where the rate has enough sources of its own", () => {
  const sources = loadSources([SHIPPED_SOURCES]);
  const found = (names: string[], minSources: number) =>
    sourcesOfPair(
      "ETH-USD",
      sources.filter(({ name }) => names.includes(name)),
      minSources,
    ).map(({ name, rate }) => [name, rate?.pair ?? null, rate?.sources.map((source) => source.name) ?? []]);
  expect(found(["okx", "kraken", "gemini"], 2)).toEqual([
    ["gemini", null, []],
    ["kraken", null, []],
    ["okx", "USDT-USD", ["gemini", "kraken"]],
  ]);
  expect(found(["okx", "kucoin", "kraken"], 2)).toEqual([["kraken", null, []]]);
  expect(sourcesOfPair("NO-PAIR", sources, 1)).toEqual([]);
});
