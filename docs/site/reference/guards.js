// Generates the list of the contracts' guards from test/mutants.json: what each invariant rests on, and the tests that
// fail without it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readMutants } from "@dataset-oracle/tools/mutants";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { table } from "../markdown-table.js";

export function guardReference() {
  const page = readFileSync(join(ROOT, "docs/Invariants.md"), "utf8");
  const sections = [...page.matchAll(/^\| (I\d+) \| (.*) \|$/gm)].flatMap(([, id = "", statement]) => {
    const guards = readMutants().filter(({ invariants }) => invariants.includes(id));
    const rows = guards.map(({ guard, file, caughtBy }) => [
      guard,
      `[${file}](../../${file})`,
      caughtBy.map((name) => `\`${name}\``).join(", "),
    ]);
    return [`## ${id}`, statement, table(["guard", "in", "tests that fail without it"], rows)];
  });
  return [
    "# Guards and their tests",
    "Generated from `test/mutants.json`. `npm run mutants` removes each guard from a copy of the contracts, and fails unless every test listed for it fails.",
    ...sections,
  ].join("\n\n");
}
