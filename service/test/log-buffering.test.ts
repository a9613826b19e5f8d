import { execFile, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/** Returns the arguments of a process that logs a number of lines, and then runs a statement. */
const argumentsFor = (lines: number, then: string) => [
  "--input-type=module",
  "--eval",
  `
    import { createLogger } from "@dataset-oracle/service/process/logger";
    const logger = createLogger({ name: "test" });
    for (let i = 0; i < ${lines}; i++) logger.info({ i }, "line");
    ${then}`,
];

async function printed(lines: number, then: string): Promise<string[]> {
  const options = { cwd: import.meta.dirname, maxBuffer: 1e8 };
  const { stdout } = await run(process.execPath, argumentsFor(lines, then), options).catch((error) => error);
  return stdout.trimEnd().split("\n");
}

test.each([
  ["ends by itself", ""],
  ["throws", 'throw new Error("unexpected");'],
])("nothing is lost when a process %s", async (_how, then) => {
  const lines = (await printed(1_000, then)).map((line) => JSON.parse(line));
  expect(lines.map(({ i }) => i)).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
  expect(lines[0]).toMatchObject({ name: "test", msg: "line", level: 30 });
});

test("the error that ends a program comes after the lines before it", async () => {
  const then = `
    const { ConfigError } = await import("@dataset-oracle/service/config/config-error");
    const { runMain } = await import("@dataset-oracle/service/process/run-main");
    console.error = (text) => process.stdout.write(text + "\\n");
    await runMain(async () => { throw new ConfigError("Choose another port."); });`;
  expect((await printed(3, then)).map((line) => line.replace(/^.*"i":(\d).*$/, "$1"))).toEqual([
    ...["0", "1", "2"],
    "Choose another port.",
  ]);
});

test.skipIf(!existsSync("/dev/full"))(
  "a program that cannot write its log ends, and prints the error that ended it",
  async () => {
    const script = `
    import { setTimeout as sleep } from "node:timers/promises";
    import { ConfigError } from "@dataset-oracle/service/config/config-error";
    import { createLogger } from "@dataset-oracle/service/process/logger";
    import { runMain } from "@dataset-oracle/service/process/run-main";
    const logger = createLogger();
    for (let i = 0; i < 100_000; i++) logger.info({ i }, "line");
    await sleep(300);
    await runMain(async () => { throw new ConfigError("Choose another port."); });`;
    const full = openSync("/dev/full", "w");
    const args = ["--input-type=module", "--eval", script];
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: import.meta.dirname,
      stdio: ["ignore", full, "pipe"],
      timeout: 60_000,
    });
    closeSync(full);
    expect([status, stderr.toString()]).toEqual([2, "Choose another port.\n"]);
  },
);
