// Tests with other people's programs and with other versions of them: `npm run compatibility`.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { gethBinary } from "@dataset-oracle/tools/compile-geth";
import { runFoundry } from "@dataset-oracle/tools/foundry";
import { installFolder } from "@dataset-oracle/tools/install-folder";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { installNodes, NEWER, withNode } from "./nodes.js";
import { renewStamp } from "./stamp.js";

const USAGE = `Usage: npm run compatibility [-- [--install] [FILE...]]

Runs the tests with other people's programs, which it installs into compatibility/ (2.3 GB): older compilers, Hardhat,
Ganache, ethers, web3.js, wagmi, ccxt, OpenAPI linters, Ponder, Jest, webpack, Next.js, Bun, Deno, workerd, and other
versions of Node and viem. If all pass, it renews
compatibility/stamp.json; commit it. npm run check fails when what these tests check has changed since.

  FILE        run only tests whose file names contain this, and leave the stamp
  --install   only install the programs
  --help      show this text

Examples
  npm run compatibility
  npm run compatibility -- ethers`;

const { values, positionals } = readArguments(USAGE, { install: { type: "boolean" } }, { allowPositionals: true });
const folder = fileURLToPath(new URL(".", import.meta.url));

/**
 * Runs a program. If it fails, this process ends with its exit code.
 *
 * @param {string} command
 * @param {readonly string[]} args
 */
function run(command, args, cwd = ROOT) {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

installNodes();
// npm chooses native binaries by the version of Node that runs it.
installFolder("compatibility", withNode(NEWER));
if (!values.install) {
  run("npm", ["run", "--silent", "build"]);
  // The tests deploy the contracts from these artifacts. Compiling the scripts takes longer than a test may.
  for (const sources of ["src", "script"]) {
    if ((await runFoundry("forge", ["build", sources])) !== 0) process.exit(1);
  }
  if (!existsSync(gethBinary())) console.log("The tests on geth are left out: `npm run geth` compiles it.");
  const bin = join(ROOT, "node_modules/.bin");
  run(join(bin, "tsc"), ["-p", folder]);
  run(join(bin, "vitest"), ["run", "--root", folder, ...positionals]);
  if (positionals.length === 0) await renewStamp();
}
