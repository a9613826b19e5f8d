import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { type Process, respondsOk, startProcess } from "@dataset-oracle/devnet/start-process";
import { QUERY_STATUSES } from "@dataset-oracle/protocol";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Block, blocksOf, DOCUMENTS } from "./code-blocks.js";
import { type Devnet, freePortOptions, START_MS, startDevnet, withPortsOf } from "./devnet-process.js";
import { HAS_CURL } from "./has-curl.js";
import { outputPattern } from "./output-pattern.js";
import { postDataRequest } from "./post-data-request.js";

/*
 * Every block of commands or code in every document is run, page by page, as a reader would. A comment above a block
 * says otherwise:
 *
 *   not run: REASON   it is not run
 *   prints            the output of the block before it: numbers may be others, and … stands for anything
 *   PATH              a file of this repository, of which it is a copy; or one of the reader's own Foundry project
 */

const run = promisify(execFile);

const COMMANDS = ["bash", "sh"];
const PROGRAMS = ["js", "ts"];
const CONTRACT = "solidity";

/** What needs other people's packages: `compatibility/` runs it with them. */
const FOREIGN = /\b(?:ethers|web3|wagmi|hardhat)\b|npm run buy/;
const ownLines = (commands: string) => commands.split("\n").filter((line) => !FOREIGN.test(line));

interface DocumentBlock extends Block {
  readonly document: string;
  readonly name: string;
  /** The block after it, if that is its output. */
  readonly printed: string | undefined;
}

const BLOCKS: readonly DocumentBlock[] = DOCUMENTS.flatMap((document) =>
  blocksOf(document).map((block, index, all) => ({
    ...block,
    document,
    name: `${document.replace(/\W+/g, "-")}-${index}`,
    printed: all[index + 1]?.note === "prints" ? all[index + 1]?.text : undefined,
  })),
);
const IS_RUN = ({ note }: Block) => !note.startsWith("not run: ");
const inLanguages = (...languages: string[]) => BLOCKS.filter((block) => languages.includes(block.language));
const isFile = (note: string) => /^[\w./-]+\.\w+$/.test(note);
const isInRepository = ({ note }: Block) => isFile(note) && existsSync(join(ROOT, note));
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");

/** The folder of the reader's own projects, and of the programs. */
const folder = mkdtempSync(join(tmpdir(), "documents-"));
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};

test("the comment above a block says how it is tested", () => {
  const wrong = inLanguages(...COMMANDS, ...PROGRAMS, CONTRACT, "json", "text").filter(
    ({ note }) => !/^$|^prints$|^not run: .{15,}/.test(note) && !isFile(note),
  );
  expect(wrong.map(({ name, note }) => [name, note])).toEqual([]);
  expect(inLanguages(...COMMANDS).filter(IS_RUN).length).toBeGreaterThan(5);
  expect(inLanguages(...PROGRAMS).filter(IS_RUN).length).toBeGreaterThan(3);
});

test("a file of this repository is shown as it is", () => {
  for (const block of BLOCKS.filter(isInRepository)) expect(block.text, block.name).toBe(read(block.note));
});

test("JSON can be parsed, as a value or as members of one", () => {
  for (const { name, text, note } of inLanguages("json")) {
    if (note === "prints") continue;
    const value = /^\s*[{[]/.test(text) ? text : `{${text}}`;
    expect(() => JSON.parse(value), name).not.toThrow();
  }
});

describe("the contracts", () => {
  const contracts = inLanguages(CONTRACT).filter((block) => IS_RUN(block) && !isInRepository(block));
  const files = contracts.filter(({ text }) => text.includes("pragma solidity"));
  const excerpts = contracts.filter((block) => !files.includes(block));
  const forge = (...args: string[]) =>
    run(foundryBinary("forge"), [...args, "--root", folder], { env: foundryEnv(), maxBuffer: 64 * 1024 * 1024 });

  test("compile without warnings in a Foundry project that installed this repository, and pass their tests", async () => {
    for (const path of ["src", "foundry.toml"]) {
      cpSync(join(ROOT, path), join(folder, "lib/dataset-oracle", path), { recursive: true });
    }
    symlinkSync(join(ROOT, "lib/forge-std"), join(folder, "lib/forge-std"));
    write("foundry.toml", '[profile.default]\nignored_warnings_from = ["lib"]\nignored_error_codes = [4591]\n');
    for (const { note, name, text } of files) write(note || `src/${name}.sol`, text);
    write("test/MockOracleExample.t.sol", mockOracleExample());
    const build = await forge("build");
    expect(build.stdout + build.stderr).not.toContain("Warning");
    const { stdout } = await forge("test", "--json");
    const suites: Record<string, { test_results: Record<string, { status: string }> }> = JSON.parse(stdout);
    const results = Object.values(suites).flatMap((suite) => Object.entries(suite.test_results));
    expect(results.length).toBeGreaterThan(1);
    expect(results.filter(([, { status }]) => status !== "Success")).toEqual([]);
  }, 240_000);

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

describe("the commands and programs", () => {
  const runnable = [
    ...inLanguages(...COMMANDS).filter(({ text }) => ownLines(text).some((line) => /^(?!cd |$)/.test(line))),
    ...inLanguages(...PROGRAMS).filter(({ text }) => !FOREIGN.test(text)),
  ].filter((block) => IS_RUN(block) && (HAS_CURL || !block.text.includes("curl")));
  const pages = [...new Set(runnable.map(({ document }) => document))];
  let devnet: Devnet;
  /** Free ports for the operator and the provider that pages start beside the devnet, by those that they name. */
  const ownPorts = new Map<string, number>();
  /** Services that a page has ended, started again. */
  const restarted: Process[] = [];

  beforeAll(async () => {
    devnet = await startDevnet([...(await freePortOptions()), "--no-feeds"]);
    const request = { network_id: 42, dataset: devnet.dataset, key: "SPOTPX/ETH-USD", broadcast: true };
    expect((await postDataRequest(devnet, request)).status).toBe(200);
    for (const port of ["8090", "8190"]) ownPorts.set(port, await freePort());
    mkdirSync(join(folder, "programs"));
    symlinkSync(join(ROOT, "node_modules"), join(folder, "programs/node_modules"));
    write("programs/package.json", JSON.stringify({ type: "module" }));
    for (const { name, language, text } of runnable) {
      if (PROGRAMS.includes(language)) write(`programs/${name}.${language}`, withPortsOf(devnet, text));
    }
  }, START_MS);

  afterAll(async () => {
    for (const service of restarted) await service.close();
    await devnet?.interrupt();
  });

  /** Starts what a page has ended, because the next one begins with a whole devnet. */
  async function restartEnded(): Promise<void> {
    for (const { url, command } of [...devnet.operators, ...devnet.providers]) {
      const isReady = () => respondsOk(`${url}/ready`);
      if (await isReady()) continue;
      const service = await startProcess({
        name: url,
        command: "sh",
        args: ["-c", `exec env ${command}`],
        cwd: ROOT,
        isReady,
      });
      restarted.push(service);
      await service.ready();
    }
  }

  test("of TypeScript have the types of the package", async () => {
    const options = "--strict --target ES2022 --lib ES2023,DOM --types --module NodeNext --skipLibCheck".split(" ");
    const programs = readdirSync(join(folder, "programs")).filter((file) => file.endsWith(".ts"));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const ended = run("node", [tsc, ...options, ...programs], { cwd: join(folder, "programs") });
    expect((await ended.catch((error) => error)).stdout).toBe("");
  });

  /** Runs commands in the repository, with the ports of this devnet, and without npm's launcher, which hides failures. */
  async function runCommands({ document, text }: DocumentBlock): Promise<string> {
    const command = withPortsOf(devnet, ownLines(text).join("\n"))
      .replace(/\bnpx cast\b/g, `"${foundryBinary("cast")}"`)
      .replace(/(?<=\s)\.\.\/(?=\w)/g, `${folder}/`)
      .replace(/\b8[01]90\b/g, (port) => String(ownPorts.get(port)));
    // A command that fails must not leave a service behind that an earlier one has started.
    const script = `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n${command}`;
    // The examples take a devnet with other ports from these variables, as their page says.
    const ports = document.startsWith("examples/") ? { RPC_URL: devnet.chain, OPERATOR_URL: devnet.operator.url } : {};
    const path = [dirname(foundryBinary("forge")), process.env.PATH].join(delimiter);
    const env = { ...foundryEnv(), ...ports, PATH: path };
    const ended = await run("bash", ["-euo", "pipefail", "-c", script], { cwd: ROOT, env, timeout: 110_000 });
    // Of a compiler.
    expect(ended.stdout + ended.stderr).not.toMatch(/^Warning \(\d+\)/m);
    return ended.stdout;
  }

  async function runProgram({ name }: DocumentBlock): Promise<string> {
    const { stdout, stderr } = await run("node", [join(folder, "programs", `${name}.js`)], { timeout: 60_000 });
    expect(stderr).toBe("");
    expect(stdout).not.toBe("");
    return stdout;
  }

  describe.each(pages)("of %s", (page) => {
    afterAll(restartEnded);

    const titled = runnable
      .filter(({ document }) => document === page)
      .sort((a, b) => BLOCKS.indexOf(a) - BLOCKS.indexOf(b))
      .map((block) => [block.text.trim().split("\n")[0], block] as const);
    test.each(titled)("%s", async (_, block) => {
      const output = await (COMMANDS.includes(block.language) ? runCommands(block) : runProgram(block));
      if (block.printed) expect(output.replace(/\s+/g, "")).toMatch(outputPattern(block.printed));
      else expect(output).not.toMatch(/"code":|\bNOT_AVAILABLE\b|\breverted\b/);
    });
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
