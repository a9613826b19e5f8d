// Installs Ethereum nodes of other projects, and runs the operator's smoke tests on them: `npm run nodes`.
//
// They are not dependencies, because together they would double what `npm ci` installs. Each has a folder of its own below
// node_modules/.cache, so `npm ci` removes them.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments } from "./arguments.js";
import { ROOT } from "./root.js";

const USAGE = `Usage: npm run nodes [-- [--install] [NODE...]]

Runs the operator's smoke tests on anvil and on other Ethereum nodes, which it installs first where they are missing:
hardhat-2 (292 MB), hardhat-3 (200 MB with the starter's plugins, and 120 MB for the Node that it needs) and
ganache (180 MB).

  NODE        a node to install (default: all three)
  --install   only install them; the other tests then include the smoke tests on them
  --help      show this text

Examples
  npm run nodes
  npm run nodes -- --install hardhat-3`;

/** Hardhat 3 and its plugins, as the starter has them: examples/test runs its tests with what is installed here. */
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "examples/hardhat/package.json"), "utf8"));
const STARTER = Object.entries(devDependencies)
  .filter(([name]) => !name.startsWith("@dataset-oracle/"))
  .map((dependency) => dependency.join("@"));

/** The packages that each node is installed from, in order. Hardhat 3 needs Node 22, even while npm chooses its native binaries. */
const PACKAGES = {
  "hardhat-2": [["hardhat@2.29.1"]],
  "hardhat-3": [["node@22.23.3"], STARTER],
  ganache: [["ganache@7.9.2"]],
};

/** Returns the folder that a node is installed in. */
export const folderOf = (node) => join(ROOT, "node_modules", ".cache", "ethereum-nodes", node);

function install(node) {
  const folder = folderOf(node);
  const missing = PACKAGES[node].map((together) => together.filter((wanted) => !isInstalled(folder, wanted)));
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
  const unknown = positionals.find((node) => !Object.hasOwn(PACKAGES, node));
  if (unknown !== undefined) {
    console.error(`There is no node ${unknown}. Name some of ${Object.keys(PACKAGES).join(", ")}.\n\n${USAGE}`);
    process.exit(2);
  }
  for (const node of positionals.length > 0 ? positionals : Object.keys(PACKAGES)) install(node);
  if (!values.install) {
    const { status } = spawnSync("npx", ["vitest", "run", "operator/test/ethereum-nodes.test.ts"], {
      cwd: ROOT,
      stdio: "inherit",
    });
    process.exitCode = status ?? 1;
  }
}
