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
import { renewStamp, SUBJECTS } from "./stamp.js";

const USAGE = `Usage: npm run compatibility [-- [--install] [SUBJECT...]]

Runs the tests with other people's programs, which it installs into compatibility/ (2.3 GB): older compilers, Hardhat,
Ganache, ethers, web3.js, wagmi, a bundler of ERC-4337, ccxt, Spectral, Ponder, Jest, webpack, Next.js, Bun, Deno,
workerd, and other versions of Node and viem. If they pass, it renews their lines of compatibility/stamp.json; commit
it. npm run check fails when what one of them checks has changed since.

  SUBJECT     a test, by its name (default: all): ${SUBJECTS.slice(0, 4).join(", ")},
              ${SUBJECTS.slice(4, 9).join(", ")},
              ${SUBJECTS.slice(9).join(", ")}
  --install   only install the programs
  --help      show this text

Examples
  npm run compatibility
  npm run compatibility -- ccxt openapi`;

const { values, positionals } = readArguments(USAGE, { install: { type: "boolean" } }, { allowPositionals: true });
const unknown = positionals.filter((name) => !SUBJECTS.includes(name));
if (unknown.length > 0) {
  console.error(`There is no subject ${unknown.join(" or ")}.\n\n${USAGE}`);
  process.exit(2);
}
const subjects = positionals.length > 0 ? positionals : SUBJECTS;
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
installFolder("operator/page/test");
if (!values.install) {
  run("npm", ["run", "--silent", "build"]);
  // The tests deploy the contracts from these artifacts. Compiling the scripts takes longer than a test may.
  for (const sources of ["src", "script"]) {
    if ((await runFoundry("forge", ["build", sources])) !== 0) process.exit(1);
  }
  if (!existsSync(gethBinary())) console.log("The tests on geth are left out: `npm run geth` compiles it.");
  const bin = join(ROOT, "node_modules/.bin");
  run(join(bin, "tsc"), ["-p", folder]);
  run(join(bin, "vitest"), ["run", "--root", folder, ...subjects.map((name) => `${name}.test.ts`)]);
  await renewStamp(subjects);
}
