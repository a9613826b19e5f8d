import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@dataset-oracle/devnet/free-ports";
import { foundryBinary, foundryEnv } from "@dataset-oracle/tools/foundry";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { beforeAll, describe, expect, test } from "vitest";
import { blocksIn, COMMANDS, type CodeBlock, isRun, PROGRAMS } from "../code-blocks.js";
import { withPortsOf } from "../devnet-process.js";
import { HAS_CURL } from "../has-curl.js";
import type { OneDevnet } from "../one-devnet.js";
import { outputPattern } from "../output-pattern.js";
import { postDataRequest } from "../post-data-request.js";

const run = promisify(execFile);

/** What needs other people's packages: `compatibility/` runs it with them. */
const FOREIGN = /\b(?:ethers|web3|wagmi|hardhat)\b|npm run buy/;
const ownLines = (commands: string) => commands.split("\n").filter((line) => !FOREIGN.test(line));

const RUNNABLE = blocksIn(...COMMANDS, ...PROGRAMS).filter((block) => {
  if (!isRun(block) || (!HAS_CURL && block.text.includes("curl"))) return false;
  if (PROGRAMS.includes(block.language)) return !FOREIGN.test(block.text);
  return ownLines(block.text).some((line) => /^(?!cd |$)/.test(line));
});
const PAGES = [...new Set(RUNNABLE.map(({ document }) => document))];

/** Runs the commands and programs of every document, as readers of several pages at the same time would. */
export function documentTests(one: () => OneDevnet): void {
  /** The folder of the reader's own projects, and of the programs. */
  const folder = mkdtempSync(join(tmpdir(), "documents-"));
  const programs = join(folder, "programs");
  /** Free ports for the operator and the provider that pages start beside the devnet, by those that they name. */
  const ownPorts = new Map<string, number>();

  beforeAll(async () => {
    const { devnet } = one();
    const request = { network_id: 42, dataset: devnet.dataset, key: "SPOTPX/ETH-USD", broadcast: true };
    expect((await postDataRequest(devnet, request)).status).toBe(200);
    for (const port of ["8090", "8190"]) ownPorts.set(port, await freePort());
    mkdirSync(programs);
    symlinkSync(join(ROOT, "node_modules"), join(programs, "node_modules"));
    writeFileSync(join(programs, "package.json"), JSON.stringify({ type: "module" }));
    for (const { name, language, text } of RUNNABLE) {
      if (PROGRAMS.includes(language)) writeFileSync(join(programs, `${name}.${language}`), withPortsOf(devnet, text));
    }
    const options = "--strict --target ES2022 --lib ES2023,DOM --types --module NodeNext --skipLibCheck".split(" ");
    const files = readdirSync(programs).filter((file) => file.endsWith(".ts"));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const compiled = await run("node", [tsc, ...options, ...files], { cwd: programs }).catch((error) => error);
    expect(compiled.stdout).toBe("");
  });

  /** Runs commands in the repository, with the ports of this devnet, and without npm's launcher, which hides failures. */
  async function runCommands({ document, text }: CodeBlock): Promise<string> {
    const { devnet } = one();
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const command = withPortsOf(devnet, ownLines(text).join("\n"))
      .replace(/\bnpx cast\b/g, `"${foundryBinary("cast")}"`)
      // A start of npm takes as long as the program.
      .replace(/\bnpm run -s (\w+) --/g, (_, script: string) => scripts[script])
      .replace(/(?<=\s)\.\.\/(?=\w)/g, `${folder}/`)
      .replace(/\b8[01]90\b/g, (port) => String(ownPorts.get(port)));
    // A command that fails must not leave a service behind that an earlier one has started.
    const script = `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n${command}`;
    // The examples take a devnet with other ports from these variables, as their page says.
    const ports = document.startsWith("examples/") ? { RPC_URL: devnet.chain, OPERATOR_URL: devnet.operator.url } : {};
    const path = [dirname(foundryBinary("forge")), process.env.PATH].join(delimiter);
    const env = { ...foundryEnv(), ...ports, PATH: path };
    const ended = await run("bash", ["-euo", "pipefail", "-c", script], { cwd: ROOT, env });
    // Of a compiler.
    expect(ended.stdout + ended.stderr).not.toMatch(/^Warning \(\d+\)/m);
    return ended.stdout;
  }

  async function runProgram({ name }: CodeBlock): Promise<string> {
    const { stdout, stderr } = await run("node", [join(programs, `${name}.js`)]);
    expect(stderr).toBe("");
    expect(stdout).not.toBe("");
    return stdout;
  }

  describe.concurrent("the commands and programs", () => {
    test.each(PAGES)("of %s", async (page) => {
      for (const block of RUNNABLE.filter(({ document }) => document === page)) {
        const output = await (COMMANDS.includes(block.language) ? runCommands(block) : runProgram(block));
        if (block.printed) expect(output.replace(/\s+/g, "")).toMatch(outputPattern(block.printed));
        else expect(output, block.name).not.toMatch(/"code":|\bNOT_AVAILABLE\b|\breverted\b/);
      }
    });
  });
}
