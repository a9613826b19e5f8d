import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { describe, expect, test } from "vitest";

const run = promisify(execFile);

/** Scripts that run other programs, which have arguments of their own. */
const OTHERS = (
  "prepare build build:sol prestart test test:sol test:ts test:units install:tests check check:sol " +
  "check:openapi check:compatibility format forge alerts crash container docs rehearse"
).split(" ");

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

/** The npm scripts, then the installed programs with their commands: a name, the program and its first arguments. */
const COMMANDS: readonly (readonly [name: string, program: readonly string[]])[] = [
  ...Object.entries<string>(scripts)
    .filter(([name]) => !OTHERS.includes(name))
    .map(([name, script]) => [`npm run ${name}`, [/node (\S+\.js)$/.exec(script)?.[1] ?? ""]] as const),
  ["operator", ["operator/dist/main.js"]],
  ["provider", ["provider/dist/main.js"]],
  ...["serve", "check", "try", "validate", "key", "publish", "announce", "replay"].map(
    (name) => [`provider ${name}`, ["provider/dist/main.js", name]] as const,
  ),
];

/** Returns arguments that give every option of a help text. */
const argumentsFor = (help: string) =>
  [...help.matchAll(/^ {2}--([a-z-]+)( [A-Z])?/gm)]
    .filter(([, name]) => name !== "help")
    .flatMap(([, name, value]) => (value === undefined ? [`--${name}`] : [`--${name}`, "1"]));

describe.concurrent.each(COMMANDS)("%s", (_, program) => {
  const env = { ...process.env, FORCE_COLOR: "1" };

  test("describes itself, its options and examples, and rejects every other option with 2 and the usage", async () => {
    const { stdout: help, stderr } = await run("node", [...program, "--help"], { cwd: ROOT, env });
    expect(stderr).toBe("");
    const [usage = ""] = help.split("\n\n");
    expect(usage).toMatch(/^Usage: (npm |operator |provider )/);
    expect(help).toMatch(/\n\n[A-Z][^\n]{30,}/);
    expect(help).toMatch(/\nExamples?\n {2}\S/);
    expect(help).toMatch(/--help +(this text|show this)/);
    // Lines fit a terminal and have no colours, because people pipe help texts.
    for (const line of help.split("\n")) expect(line.length, line).toBeLessThanOrEqual(124);
    expect(help).not.toContain("\u001b[");

    // Options are read in order, so the unknown one is the first mistake only if all before it are known.
    const args = [...program, ...argumentsFor(help), "--no-such-option"];
    const ended = await run("node", args, { cwd: ROOT }).catch((error) => error);
    expect(ended.code).toBe(2);
    expect(ended.stdout).toBe("");
    expect(ended.stderr).toMatch(/^[^\n]*--no-such-option/);
    expect(ended.stderr).toContain("Usage: ");
    expect(ended.stderr).not.toMatch(/^ {4}at /m);
  });
});

test("every npm script has --help or is listed as another program", () => {
  expect(COMMANDS.map(([, program]) => program[0])).not.toContain("");
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(OTHERS));
});
