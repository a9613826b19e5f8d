import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/root";
import { expect, test } from "vitest";

const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const page = read("docs/Comparison.md");
const peers: {
  update: ({ system: string } & Record<string, number>)[];
  query: { system: string; gas: number }[];
} = JSON.parse(read("bench/peers.json"));

const gas = page.split("## Gas")[1] ?? "";
const row = (system: string) => gas.split("\n").find((line) => line.startsWith(`| ${system} |`)) ?? "";
const number = (value: number | undefined) => value?.toLocaleString("en") ?? "";

test("every figure is one of docs/Gas.md", () => {
  const figures = page.match(/\b\d{1,3},\d{3}\b/g) ?? [];
  expect(figures.length).toBeGreaterThan(10);
  const tables = read("docs/Gas.md");
  for (const figure of figures) expect(tables).toContain(figure);
});

test("our gas is what the snapshots have", () => {
  const snapshot = (file: string, name: string) => number(Number(JSON.parse(read(`snapshots/${file}.json`))[name]));
  const ours = page
    .split("## Gas")[1]
    ?.split("\n")
    .find((line) => line.startsWith("| this |"));
  expect(ours).toContain(`| ${snapshot("update", "update, 9 of 13 signers")} |`);
  expect(ours).toContain(`${snapshot("query", "query, price 0")} free, ${snapshot("query", "query, paid")} paid`);
});

test.each([
  ["Scribe", "Scribe, poke", "Scribe"],
  ["Maker Median", "Maker Median", ""],
  ["RedStone", "RedStone multi-feed, push", "RedStone, direct"],
  ["Pyth", "Pyth", "Pyth"],
  ["Chainlink", "", "Chainlink, direct"],
])("the gas of %s is what was measured of it", (system, update, query) => {
  const [, , updates, queries] = row(system).split("|");
  if (update) expect(updates?.trim()).toBe(number(peers.update.find((peer) => peer.system === update)?.["9"]));
  if (query) expect(queries?.trim()).toBe(number(peers.query.find((peer) => peer.system === query)?.gas));
});
