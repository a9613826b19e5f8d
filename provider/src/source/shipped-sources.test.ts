import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { EXCHANGE_ORIGINS, EXCHANGES } from "@dataset-oracle/devnet/exchange-origins";
import { MARKET_PAIRS } from "@dataset-oracle/devnet/simulated-market/pairs";
import { describe, expect, test } from "vitest";
import { loadRecordedAnswers } from "../../test/support/recorded-answers.js";
import { loadSources, SHIPPED_SOURCES } from "./load-sources.js";

const shipped = () => new Map(loadSources([SHIPPED_SOURCES]).map((source) => [source.name, source]));

describe("the shipped sources", () => {
  test("have an origin of their own each, and a recorded answer", () => {
    const origins = [...shipped().values()].map(({ origin }) => origin);
    expect(new Set(origins).size).toBe(origins.length);
    expect(Object.values(EXCHANGE_ORIGINS).toSorted()).toEqual(origins.toSorted());
    for (const name of EXCHANGES) expect(loadRecordedAnswers(name).answers.length, name).toBeGreaterThan(0);
  });

  test("give each pair of the devnet three sources without a conversion, and those in USD seven", () => {
    for (const { pair } of MARKET_PAIRS) {
      const knowing = [...shipped().values()].filter(({ queries }) => queries.has(pair));
      const direct = knowing.filter(({ queries }) => queries.get(pair)?.rate === null);
      expect(direct.length, pair).toBeGreaterThanOrEqual(3);
      if (pair.endsWith("-USD")) expect(knowing.length, pair).toBeGreaterThanOrEqual(7);
    }
  });

  test("say what of them was verified, and where their formats, limits and terms are", () => {
    for (const file of readdirSync(SHIPPED_SOURCES)) {
      const spec = JSON.parse(readFileSync(join(SHIPPED_SOURCES, file), "utf8"));
      expect(file).toBe(`${spec.name}.json`);
      for (const page of [spec.documentation, spec.terms]) expect(page).toMatch(/^https:\/\/[a-z.]+\//);
      expect(spec.verification).toContain("Nothing was run against the live API");
    }
  });
});
