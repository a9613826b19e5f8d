import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hexToBytes, keccak256 } from "viem";
import { beforeEach, expect, it } from "vitest";
import { PublishedSpecStore } from "./published-spec-store.js";

const SPEC = "0x7b7d";
const HASH = keccak256(SPEC);

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "specs-"));
  mkdirSync(join(folder, "42"));
  file = join(folder, "42", `${HASH.slice(2)}.json`);
});

it("reads no spec through a symbolic link, from a folder or a device, or beyond the size of any spec", async () => {
  const specs = new PublishedSpecStore(folder);
  writeFileSync(join(folder, "elsewhere"), hexToBytes(SPEC));
  for (const target of ["../elsewhere", "/dev/zero", "/etc"]) {
    symlinkSync(target, file);
    expect(await specs.read(42, HASH)).toBeNull();
    rmSync(file);
  }
  mkdirSync(file);
  expect(await specs.read(42, HASH)).toBeNull();
  rmSync(file, { recursive: true });
  writeFileSync(file, hexToBytes(SPEC));
  expect(await specs.read(42, HASH)).toBe(SPEC);
});

it("replaces a symbolic link by the spec, and leaves the file alone that it led to", async () => {
  const elsewhere = join(folder, "elsewhere");
  writeFileSync(elsewhere, "a key");
  symlinkSync(elsewhere, file);
  const specs = new PublishedSpecStore(folder);
  await specs.write(42, HASH, SPEC);
  expect(await specs.read(42, HASH)).toBe(SPEC);
  symlinkSync(elsewhere, `${file}.${process.pid}.tmp`);
  await expect(specs.write(42, HASH, SPEC)).rejects.toThrow("ELOOP");
  expect(readFileSync(elsewhere, "utf8")).toBe("a key");
  expect(readdirSync(join(folder, "42"))).toHaveLength(2);
});
