import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const OPERATOR = join(import.meta.dirname, "..");

test("every file that the README's way of one request names exists, and it takes at most fifteen steps", () => {
  const readme = readFileSync(join(OPERATOR, "README.md"), "utf8");
  const [, map = ""] = readme.split("## What happens to one request");
  const steps = map.split("\n## ", 1)[0]?.match(/^\d+\. .*$/gm) ?? [];
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.length).toBeLessThanOrEqual(15);
  for (const step of steps) {
    const files = step.match(/`[\w/-]+\.ts`/g) ?? [];
    expect(files, step).not.toEqual([]);
    for (const file of files) expect(existsSync(join(OPERATOR, "src", file.slice(1, -1))), file).toBe(true);
  }
});
