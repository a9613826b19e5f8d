import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keccak256 } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { PublishedSpecStore } from "./published-spec-store.js";

const SPEC = "0x7b7d";
const HASH = keccak256(SPEC);

test("reads the spec that was stored, and nothing whose content has another hash", async () => {
  const folder = mkdtempSync(join(tmpdir(), "specs-"));
  const specs = new PublishedSpecStore(folder);
  expect(await specs.read(42, HASH)).toBeNull();
  await specs.write(42, HASH, SPEC);
  expect(await specs.read(42, HASH)).toBe(SPEC);
  const file = join(folder, "42", `${HASH.slice(2)}.json`);
  writeFileSync(file, "{ }");
  expect(await specs.read(42, HASH)).toBeNull();
  rmSync(file);
  mkdirSync(file);
  expect(await specs.read(42, HASH)).toBeNull();
  rmSync(folder, { recursive: true });
});

test("leaves no file when the disk is full", async () => {
  const folder = mkdtempSync(join(tmpdir(), "specs-"));
  const { writeFile } = fs;
  const replace = (by: typeof writeFile) => {
    fs.writeFile = by;
    syncBuiltinESMExports();
  };
  onTestFinished(() => replace(writeFile));
  replace(async (path) => {
    await writeFile(path, "");
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  });
  await expect(new PublishedSpecStore(folder).write(42, HASH, SPEC)).rejects.toMatchObject({ code: "ENOSPC" });
  expect(readdirSync(join(folder, "42"))).toEqual([]);
});
