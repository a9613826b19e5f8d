import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";

// devnet/test/documents.test.ts runs the commands of examples/README.md.

test("the starters sell the same tickets", () => {
  const [foundry, hardhat] = ["foundry/src", "hardhat/contracts"].map((path) =>
    readFileSync(join(ROOT, "examples", path, "Shop.sol"), "utf8"),
  );
  expect(hardhat).toBe(foundry);
});

test("git ignores what the compiler writes in a project of the starter for Foundry", () => {
  const cwd = join(mkdtempSync(join(tmpdir(), "starter-")), "foundry");
  execFileSync("node", [join(ROOT, "tools/create-example-project.js"), "foundry", cwd, "--copy"]);
  for (const folder of ["out", "cache", "broadcast"]) {
    mkdirSync(join(cwd, folder));
    writeFileSync(join(cwd, folder, "file.json"), "{}");
  }
  execFileSync("git", ["init", "--quiet"], { cwd });
  const status = execFileSync("git", ["status", "--short"], { cwd, encoding: "utf8" });
  expect(status.match(/\S+$/gm)).toEqual([".gitignore", "foundry.toml", "lib/", "script/", "src/", "test/"]);
});
