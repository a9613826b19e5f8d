// Makes a project from a starter of examples/: `npm run example -- foundry ../my-dapp`.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { readArguments } from "./arguments.js";
import { foundryBinary, foundryEnv } from "./foundry.js";
import { ROOT } from "./repository-root.js";

const USAGE = `Usage: npm run example -- [--copy] foundry|hardhat FOLDER

Makes a project from a starter of examples/ in a new folder, installs what it needs, and runs its tests.
Hardhat needs Node 22.13 or newer, and about 300 MB for its packages.

  FOLDER      the new folder
  --copy      only make the project
  --help      show this text

Examples
  npm run example -- foundry ../my-dapp
  npm run example -- hardhat ../my-dapp`;

const { values, positionals } = readArguments(USAGE, { copy: { type: "boolean" } }, { allowPositionals: true });
const [starter = "", path = ""] = positionals;
const folder = resolve(path);
const STARTERS = ["foundry", "hardhat"];
if (positionals.length !== 2) fail("Name a starter and a new folder.");
if (!STARTERS.includes(starter)) fail(`There is no starter ${starter}. The starters are: ${STARTERS.join(", ")}.`);
if (existsSync(folder)) fail(`${folder} exists already. Name a new folder.`);
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
// Checked before anything is copied: what an older Node installs, a newer one cannot use.
if (starter === "hardhat" && !values.copy && (major < 22 || (major === 22 && minor < 13)))
  fail(`Hardhat needs Node 22.13 or newer, and this is ${process.version}. Install a newer Node, and try again.`);

/**
 * @param {string} from In the repository.
 * @param {string} to In the new folder.
 */
const copy = (from, to) => cpSync(join(ROOT, from), join(folder, to), { recursive: true });

copy(`examples/${starter}`, ".");
if (starter === "foundry") {
  // The files of the two repositories that `forge install` would put into lib/, for the adapters too.
  const parts = ["src", "foundry.toml", "lib/openzeppelin-contracts/contracts"];
  for (const part of parts) copy(part, `lib/dataset-oracle/${part}`);
  copy("lib/forge-std/src", "lib/forge-std/src");
  if (!values.copy) run(foundryBinary("forge"), ["test"], { env: foundryEnv() });
} else {
  // The packages are not on the npm registry yet, so the project gets the files that would be published.
  const args = ["pack", "--loglevel=error", "--ignore-scripts", "--pack-destination", folder];
  run("npm", [...args, join(ROOT, "src"), join(ROOT, "protocol")], { stdio: "pipe" });
  const packages = readdirSync(folder).filter((file) => file.endsWith(".tgz"));
  if (!values.copy) {
    run("npm", ["install", "--no-audit", "--no-fund", ...packages.map((file) => `./${file}`)]);
    run("npm", ["test"]);
  }
}

/**
 * Runs a program in the new folder. If it fails, this process ends with its exit code.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import("node:child_process").ExecFileSyncOptions} options
 */
function run(command, args, options = {}) {
  try {
    execFileSync(command, args, { cwd: folder, stdio: "inherit", ...options });
  } catch (error) {
    const { message, status } = /** @type {Error & { status?: number }} */ (error);
    console.error(`${message.trim()}\nThe new project is incomplete or fails its tests: ${folder}`);
    process.exit(status ?? 1);
  }
}

/** @param {string} reason */
function fail(reason) {
  console.error(`${reason}\n\n${USAGE}`);
  process.exit(2);
}
