import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { QUERY_STATUSES } from "@dataset-oracle/protocol";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { describe, expect, test } from "vitest";
import { blocksIn, COMMANDS, type CodeBlock, DOCUMENTS, isRun, PROGRAMS } from "./code-blocks.js";

/*
 * Every block of commands or code in every document is run, as a reader would: contracts here, and what needs a devnet in
 * devnet-and-documents.test.ts. A comment above a block says otherwise:
 *
 *   not run: REASON   it is not run
 *   rehearsed         only `npm run rehearse` runs it
 *   prints            the output of the block before it: numbers may be others, and … stands for anything
 *   PATH              a file of this repository, of which it is a copy; or one of the reader's own Foundry project
 */

const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const isFile = (note: string) => /^[\w./-]+\.\w+$/.test(note);
const isInRepository = ({ note }: CodeBlock) => isFile(note) && existsSync(join(ROOT, note));

test("the comment above a block says how it is tested", () => {
  const wrong = blocksIn(...COMMANDS, ...PROGRAMS, "solidity", "json", "text").filter(
    ({ note }) => !/^$|^prints$|^not run: .{15,}|^rehearsed$/.test(note) && !isFile(note),
  );
  expect(wrong.map(({ name, note }) => [name, note])).toEqual([]);
  expect(blocksIn(...COMMANDS).filter(isRun).length).toBeGreaterThan(5);
  expect(blocksIn(...PROGRAMS).filter(isRun).length).toBeGreaterThan(3);
});

test("a file of this repository is shown as it is", () => {
  for (const block of blocksIn(...PROGRAMS, ...COMMANDS, "solidity", "json", "text").filter(isInRepository))
    expect(block.text, block.name).toBe(read(block.note));
});

test("JSON can be parsed, as a value or as members of one", () => {
  for (const { name, text, note } of blocksIn("json")) {
    if (note === "prints") continue;
    const value = /^\s*[{[]/.test(text) ? text : `{${text}}`;
    expect(() => JSON.parse(value), name).not.toThrow();
  }
});

describe("the contracts", () => {
  const folder = join(mkdtempSync(join(tmpdir(), "documents-")), "my-dapp");
  const contracts = blocksIn("solidity").filter((block) => isRun(block) && !isInRepository(block));
  const files = contracts.filter(({ text }) => text.includes("pragma solidity"));
  const excerpts = contracts.filter((block) => !files.includes(block));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const forge = (...args: string[]) =>
    promisify(execFile)(foundryBinary("forge"), [...args, "--root", folder], {
      env: foundryEnv(),
      maxBuffer: 64 * 1024 * 1024,
    });

  test("compile without warnings in the starter for Foundry, with every adapter, and pass their tests", async () => {
    const starter = [join(ROOT, "tools/create-example-project.js"), "--copy", "foundry", folder];
    await promisify(execFile)(process.execPath, starter);
    const imports = readdirSync(join(ROOT, "src/adapters")).map(
      (file) => `import {${file.slice(0, -".sol".length)}} from "@dataset-oracle/contracts/adapters/${file}";\n`,
    );
    write(
      "test/Adapters.sol",
      `// SPDX-License-Identifier: MIT\npragma solidity ^0.8.37;\n${imports.join("")}contract Adapters {}\n`,
    );
    for (const { note, name, text } of files) write(note || `src/${name}.sol`, text);
    write("test/MockOracleExample.t.sol", mockOracleExample());
    const build = await forge("build");
    expect(build.stdout + build.stderr).not.toContain("Warning");
    const { stdout } = await forge("test", "--json");
    const suites: Record<string, { test_results: Record<string, { status: string }> }> = JSON.parse(stdout);
    const results = Object.values(suites).flatMap((suite) => Object.entries(suite.test_results));
    expect(results.length).toBeGreaterThan(1);
    expect(results.filter(([, { status }]) => status === "Failure")).toEqual([]);
  });

  test("fail the command by which the guide runs tests with the clone's forge", async () => {
    const [, command = "", path = ""] = /`(npm run forge -- test --root) (\S+)`/.exec(read("docs/Solidity.md")) ?? [];
    expect(path).toBe("../my-dapp");
    const [program = "", ...args] = `${command} tools/failing-forge-project`.split(" ");
    const failure = await promisify(execFile)(program, args, { cwd: ROOT }).catch((error) => error);
    expect(failure).toMatchObject({ code: 1, stdout: expect.stringContaining("[FAIL: as it must]") });
  });

  test("that are shown in part have lines of contracts that are tested", () => {
    const tested = ["src", "test", "script", "examples"].flatMap((root) =>
      readdirSync(join(ROOT, root), { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".sol"))
        .map((path) => read(join(root, path))),
    );
    const lines = new Set([...tested, ...files.map(({ text }) => text)].join("\n").split(/\s*\n\s*/));
    for (const { name, text } of excerpts) {
      for (const line of text.trim().split(/\s*\n\s*/)) expect(lines, `${name}: ${line}`).toContain(line);
    }
  });

  test("have the statuses, with their numbers, that tables list", () => {
    const rows = DOCUMENTS.flatMap((document) => [...read(document).matchAll(/^\| `([A-Z_]+)` \| (\d) \| /gm)]);
    for (const [, status, number] of rows) expect(QUERY_STATUSES[Number(number)]).toBe(status);
  });
});

/** The code in the documentation of MockOracle, in a test. What it does is tested in test/mocks. */
function mockOracleExample(): string {
  const lines = [...read("src/mocks/MockOracle.sol").matchAll(/^\/\/\/ {5}(\S.*)$/gm)].map(([, line]) => line);
  return `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.4;

import {Test} from "forge-std/Test.sol";
import {Oracle} from "@dataset-oracle/contracts/Oracle.sol";
import {MockOracle} from "@dataset-oracle/contracts/mocks/MockOracle.sol";

contract Consumer {
    function buy(bytes calldata) external pure {}
}

contract ExampleTest is Test {
    function test_example() public {
        Consumer consumer = new Consumer();
        ${lines.join("\n        ")}
    }
}
`;
}
