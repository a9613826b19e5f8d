import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/foundry";
import { describe, expect, test } from "vitest";

const run = promisify(execFile);

/** Scripts that are no commands of this repository: another program's, or several of these one after the other. */
const OTHERS = ["prepare", "build", "prestart", "test", "test:sol", "test:ts", "check", "check:sol", "format", "forge"];
/** `npm install` and what completes it: it takes what npm takes. */
const OF_NPM = ["lock"];

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

interface Command {
  readonly name: string;
  /** What runs, from the repository's root. */
  readonly program: readonly string[];
  /** The files that hold the options that it knows. */
  readonly parsers: readonly string[];
}

/** Those of npm, then those that are installed as programs, with their own commands. */
const COMMANDS: readonly Command[] = [
  ...Object.entries<string>(scripts)
    .filter(([name]) => ![...OTHERS, ...OF_NPM].includes(name))
    .map(([name, script]) => {
      const program = /node (\S+\.js)$/.exec(script)?.[1] ?? "";
      const source: Record<string, string> = {
        "devnet/dist/main.js": "devnet/src/settings.ts",
        "provider/dist/web-oracle/cli/main.js": "provider/src/web-oracle/cli/arguments.ts",
      };
      return { name: `npm run ${name}`, program: [program], parsers: [source[program] ?? program] };
    }),
  { name: "operator", program: ["operator/dist/main.js"], parsers: ["service/src/arguments.ts"] },
  {
    name: "provider",
    program: ["provider/dist/main.js"],
    parsers: ["service/src/arguments.ts", "provider/src/cli/arguments.ts"],
  },
  { name: "provider fetch", program: ["provider/dist/main.js", "fetch"], parsers: ["provider/src/cli/arguments.ts"] },
  { name: "provider replay", program: ["provider/dist/main.js", "replay"], parsers: [] },
];

/** The options that a file gives to its parser, with whether they take a value. */
const optionsIn = (file: string) =>
  [...readFileSync(join(ROOT, file), "utf8").matchAll(/["\s]([a-z][a-z-]*)"?: \{\s*type: "(string|boolean)"/g)].map(
    ([, name, type]) => ({ name: name ?? "", takesValue: type === "string" }),
  );

describe.concurrent.each(COMMANDS)("$name", ({ program, parsers }) => {
  test("--help says what it does, its options and how to use it", async () => {
    const { stdout, stderr } = await run("node", [...program, "--help"], {
      cwd: ROOT,
      env: { ...process.env, FORCE_COLOR: "1" },
    });
    expect(stderr).toBe("");
    const [usage = ""] = stdout.split("\n\n");
    expect(usage).toMatch(/^Usage: (npm |operator |provider |web-oracle )/);
    expect(stdout).toMatch(/\n\n[A-Z][^\n]{30,}/);
    expect(stdout).toMatch(/\nExamples?\n {2}\S/);
    expect(stdout).toMatch(/--help +(this text|show this)/);
    // No line is wider than a terminal, and none has colours.
    for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(124);
    expect(stdout).not.toContain("\u001b[");
    const options = parsers.flatMap(optionsIn);
    for (const { name, takesValue } of options) {
      expect(stdout).toMatch(new RegExp(`^ +--${name} `, "m"));
      if (takesValue) expect(stdout).toMatch(new RegExp(`--${name} [A-Z]+`));
    }
  });

  test("what it does not know ends it with 2, and says what there is", async () => {
    const ended = await run("node", [...program, "--no-such-option"], { cwd: ROOT }).catch((error) => error);
    expect(ended.code).toBe(2);
    expect(ended.stdout).toBe("");
    expect(ended.stderr).toContain("--no-such-option");
    expect(ended.stderr).toContain("Usage: ");
    expect(ended.stderr).not.toMatch(/^ {4}at /m);
  });
});

test("the options are found in the parsers", () => {
  const names = COMMANDS.flatMap(({ parsers }) => parsers.flatMap(optionsIn)).map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      "config",
      "check-config",
      "json",
      "chain-port",
      "no-feeds",
      "rpc-url",
      "requests",
      "check",
    ]),
  );
});

test("every script of npm is a command with --help, or is named as none", () => {
  expect(COMMANDS.map(({ program }) => program[0])).not.toContain("");
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining([...OTHERS, ...OF_NPM]));
});

test("an option with a default says it in the help", () => {
  const withDefaults = ["bench/operator/main.js", "tools/chaos.js", "tools/crash.js", "devnet/src/settings.ts"];
  for (const file of withDefaults) {
    const text = readFileSync(join(ROOT, file), "utf8");
    const defaults = [...text.matchAll(/"?([a-z-]+)"?: \{ type: "string", default: "(\w+)"/g)];
    expect(defaults.length, file).toBeGreaterThan(0);
    for (const [, name, value] of defaults) expect(text).toMatch(new RegExp(`--${name} N.*default: ${value}`));
  }
});
