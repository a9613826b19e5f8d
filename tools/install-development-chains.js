// Installs the development chains of other projects, and runs the operator's smoke tests on them: `npm run dev-chains`.
//
// They are not dependencies, because together they would double what `npm ci` installs. Those from npm have a folder each
// below node_modules/.cache, so `npm ci` removes them. Geth takes minutes to compile, so it stays in the user's cache.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments } from "./arguments.js";
import { runFoundry } from "./foundry.js";
import { ROOT } from "./repository-root.js";

const USAGE = `Usage: npm run dev-chains [-- [--install] [CHAIN...]]

Runs the operator's smoke tests on anvil and on other development chains, which it installs first where they are missing:
hardhat-2 (292 MB), hardhat-3 (200 MB with the starter's plugins, and 120 MB for the Node that it needs),
ganache (180 MB) and geth (90 MB below ~/.cache/dataset-oracle, once), which Go compiles in about five minutes; without
Go, geth is left out.

  CHAIN       a chain to install (default: all four)
  --install   only install them; the other tests then include the smoke tests on them
  --help      show this text

Examples
  npm run dev-chains
  npm run dev-chains -- --install hardhat-3`;

/** Hardhat 3 and its plugins, as the starter has them: examples/test runs its tests with what is installed here. */
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "examples/hardhat/package.json"), "utf8"));
const STARTER = Object.entries(devDependencies)
  .filter(([name]) => !name.startsWith("@dataset-oracle/"))
  .map((dependency) => dependency.join("@"));

/**
 * The packages that each chain is installed from, in order. Hardhat 3 needs Node 22 even while npm chooses its native
 * binaries.
 */
const PACKAGES = {
  "hardhat-2": [["hardhat@2.29.1"]],
  "hardhat-3": [["node@22.23.3"], STARTER],
  ganache: [["ganache@7.9.2"]],
};

const GETH_VERSION = "1.17.10";

/** Returns the path of geth, which exists once it is compiled. */
export const gethBinary = () => join(homedir(), ".cache", "dataset-oracle", `geth-${GETH_VERSION}`, "geth");

/** Returns the folder that a chain is installed in from npm. */
export const folderOf = (chain) => join(ROOT, "node_modules", ".cache", "development-chains", chain);

function install(chain) {
  const folder = folderOf(chain);
  const missing = PACKAGES[chain].map((together) => together.filter((wanted) => !isInstalled(folder, wanted)));
  mkdirSync(folder, { recursive: true });
  // npm removes what this file does not list.
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true, "type": "module" }\n');
  const ownNode = join(folder, "node_modules", "node", "bin");
  const env = { ...process.env, PATH: [ownNode, dirname(process.execPath), process.env.PATH].join(delimiter) };
  for (const wanted of missing) {
    if (wanted.length === 0) continue;
    console.log(`Installing ${wanted.join(", ")}`);
    execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", ...wanted], {
      cwd: folder,
      env,
      stdio: "inherit",
    });
  }
}

/** Compiles geth, unless it lies in the cache. Go moves the program there once it is complete. */
function compileGeth() {
  if (existsSync(gethBinary())) return;
  if (spawnSync("go", ["version"]).error !== undefined) {
    console.log("geth is left out: Go, which compiles it, is not installed. Install Go to run the tests on geth, too.");
    return;
  }
  console.log(`Compiling geth ${GETH_VERSION}, which takes about five minutes`);
  execFileSync("go", ["install", `github.com/ethereum/go-ethereum/cmd/geth@v${GETH_VERSION}`], {
    env: { ...process.env, GOBIN: dirname(gethBinary()), GOFLAGS: "-mod=mod" },
    stdio: "inherit",
  });
}

function isInstalled(folder, wanted) {
  const [, name, version] = /^(.+)@(.+)$/.exec(wanted);
  try {
    return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version === version;
  } catch {
    return false;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = readArguments(USAGE, { install: { type: "boolean" } }, { allowPositionals: true });
  const chains = [...Object.keys(PACKAGES), "geth"];
  const unknown = positionals.find((chain) => !chains.includes(chain));
  if (unknown !== undefined) {
    console.error(`There is no chain ${unknown}. Choose from ${chains.join(", ")}.\n\n${USAGE}`);
    process.exit(2);
  }
  for (const chain of positionals.length > 0 ? positionals : chains) {
    if (chain === "geth") compileGeth();
    else install(chain);
  }
  if (!values.install) {
    // The tests deploy the contracts from these artifacts. Compiling the scripts takes longer than a test may.
    for (const sources of ["src", "script"]) {
      if ((await runFoundry("forge", ["build", sources])) !== 0) process.exit(1);
    }
    const tests = ["development-chains", "geth", "sending-returned-transactions"];
    const files = tests.map((name) => `operator/test/${name}.test.ts`);
    const { status } = spawnSync("npx", ["vitest", "run", ...files], { cwd: ROOT, stdio: "inherit" });
    process.exitCode = status ?? 1;
  }
}
