import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/root";
import { expect, test } from "vitest";
import { settingsOf } from "./forge-scripts.js";

const FOLDER = join(ROOT, "script");
const README = readFileSync(join(FOLDER, "README.md"), "utf8");
const SOURCES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".sol"));

/** The first column of the README's tables, which holds a script's link, or names in backticks. */
const firstColumn = [...README.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = ""]) =>
  [...cell.matchAll(/`(\w+)`|\((\w+\.s\.sol)\)/g)].map(([, name, script]) => script ?? name),
);

test("the README has every script", () => {
  const scripts = SOURCES.filter((name) => name.endsWith(".s.sol"));
  expect(firstColumn.filter((name) => name?.endsWith(".s.sol")).sort()).toEqual(scripts.sort());
});

test("the README has every variable that the scripts read, and no other", () => {
  const read = SOURCES.filter((name) => !name.startsWith("DeployExampleConsumer")).flatMap((name) =>
    [...readFileSync(join(FOLDER, name), "utf8").matchAll(/vm\.env\w+\("(\w+)"/g)].map(([, variable]) => variable),
  );
  const documented = firstColumn.filter((name) => /^[A-Z_]+$/.test(name ?? ""));
  expect(documented.sort()).toEqual([...new Set(read)].sort());
});

test("the README has every setting of a dataset", () => {
  const settings = Object.keys(settingsOf(42).financial);
  expect(firstColumn.filter((name) => settings.includes(name ?? ""))).toEqual(settings);
});
