import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "@dataset-oracle/tools/root";
import { describe, expect, test } from "vitest";

const run = promisify(execFile);

/** Scripts that run other programs, which have arguments of their own. */
const OTHERS = [
  ...["prepare", "build", "prestart", "test", "test:sol", "test:ts", "check", "check:sol", "format", "forge", "lock"],
  ...["crash", "chaos", "container", "docs"],
];

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

interface Command {
  readonly name: string;
  /** The program and its first arguments, run in the repository's root. */
  readonly program: readonly string[];
  /** The files that define its options. */
  readonly parsers: readonly string[];
}

/** The npm scripts, then the installed programs with their commands. */
const COMMANDS: readonly Command[] = [
  ...Object.entries<string>(scripts)
    .filter(([name]) => !OTHERS.includes(name))
    .map(([name, script]) => {
      const program = /node (\S+\.js)$/.exec(script)?.[1] ?? "";
      const source: Record<string, string> = {
        "devnet/dist/main.js": "devnet/src/arguments.ts",
        "provider/dist/web-oracle/cli/main.js": "provider/src/web-oracle/cli/arguments.ts",
      };
      return { name: `npm run ${name}`, program: [program], parsers: [source[program] ?? program] };
    }),
  { name: "operator", program: ["operator/dist/main.js"], parsers: ["service/src/process/arguments.ts"] },
  {
    name: "provider",
    program: ["provider/dist/main.js"],
    parsers: ["service/src/process/arguments.ts", "provider/src/cli/fetch.ts"],
  },
  { name: "provider fetch", program: ["provider/dist/main.js", "fetch"], parsers: ["provider/src/cli/fetch.ts"] },
  {
    name: "provider announce",
    program: ["provider/dist/main.js", "announce"],
    parsers: ["provider/src/cli/announce.ts"],
  },
  { name: "provider replay", program: ["provider/dist/main.js", "replay"], parsers: ["provider/src/cli/replay.ts"] },
];

/** Returns the options that a file passes to `parseArgs`. */
const optionsIn = (file: string) =>
  [...readFileSync(join(ROOT, file), "utf8").matchAll(/["\s]([a-z][a-z-]*)"?: \{\s*type: "(string|boolean)"/g)].map(
    ([, name, type]) => ({ name: name ?? "", takesValue: type === "string" }),
  );

describe.concurrent.each(COMMANDS)("$name", ({ program, parsers }) => {
  test("--help describes the command, its options and examples", async () => {
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
    // Lines fit a terminal and have no colours, because people pipe help texts.
    for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(124);
    expect(stdout).not.toContain("\u001b[");
    const options = parsers.flatMap(optionsIn);
    for (const { name, takesValue } of options) {
      expect(stdout).toMatch(new RegExp(`^ +--${name} `, "m"));
      if (takesValue) expect(stdout).toMatch(new RegExp(`--${name} [A-Z]+`));
    }
  });

  test("an unknown option ends it with 2 and the usage", async () => {
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
    expect.arrayContaining(["config", "check-config", "json", "chain-port", "no-feeds", "rpc-url", "check"]),
  );
});

test("every npm script has --help or is listed as another program", () => {
  expect(COMMANDS.map(({ program }) => program[0])).not.toContain("");
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(OTHERS));
});
