import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "create-example-"));

/** Runs the program, which is expected to fail. */
async function create(args: readonly string[], env = process.env) {
  const program = join(ROOT, "tools/create-example-project.js");
  const { code, stderr } = await execute(process.execPath, [program, ...args], { env }).catch((error) => error);
  return { code: code as number, stderr: stderr as string };
}

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

test.runIf(major < 22 || (major === 22 && minor < 13))("a Node too old for Hardhat leaves no folder", async () => {
  const target = join(folder, "old-node");
  const { code, stderr } = await create(["hardhat", target]);
  expect([code, stderr.split("\n")[0]]).toEqual([
    2,
    `Hardhat needs Node 22.13 or newer, and this is ${process.version}. Install a newer Node, and try again.`,
  ]);
  expect(existsSync(target)).toBe(false);
});

test("a program that fails ends it with that program's exit code and message, without a stack", async () => {
  writeFileSync(join(folder, "npm"), "#!/bin/sh\necho no space left >&2\nexit 3\n");
  chmodSync(join(folder, "npm"), 0o755);
  const target = join(folder, "failing-npm");
  const env = { ...process.env, PATH: [folder, process.env.PATH].join(delimiter) };
  const { code, stderr } = await create(["hardhat", target, "--copy"], env);
  expect(code).toBe(3);
  expect(stderr).toMatch(
    /^Command failed: npm pack .*\nno space left\nThe new project is incomplete or fails its tests: /,
  );
  expect(stderr).not.toMatch(/^ {4}at |status: /m);
});
