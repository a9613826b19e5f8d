// Provides the Solidity libraries after `npm ci`. They are git submodules. If git is missing or their host cannot be
// reached, the same files are copied from the npm packages that the lockfile pins.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./repository-root.js";

const LIBRARIES = [
  {
    path: "lib/forge-std",
    proof: "src/Test.sol",
    npm: "@layerzerolabs/toolbox-foundry/lib/forge-std",
    into: "src",
  },
  {
    path: "lib/openzeppelin-contracts",
    proof: "contracts/access/Ownable2Step.sol",
    npm: "@openzeppelin/contracts",
    into: "contracts",
  },
];

/** @param {{ path: string, proof: string }} library */
const isPresent = ({ path, proof }) => existsSync(join(ROOT, path, proof));

/** @param {{ path: string }} library */
function fetchSubmodule({ path }) {
  try {
    execFileSync("git", ["submodule", "update", "--init", "--depth", "1", path], {
      cwd: ROOT,
      stdio: "ignore",
      timeout: 60_000,
      env: { ...process.env, GIT_TERMINAL_PROMPT: "0" },
    });
  } catch {
    // The host is out of reach: the npm package stands in, below.
  }
}

for (const library of LIBRARIES) {
  if (!isPresent(library)) fetchSubmodule(library);
  if (isPresent(library)) continue;
  cpSync(join(ROOT, "node_modules", library.npm), join(ROOT, library.path, library.into), { recursive: true });
  if (!isPresent(library))
    throw new Error(`${library.path} could be set up neither by git nor from ${library.npm}. Run "npm ci" again.`);
  console.log(`${library.path}: copied from the npm package`);
}
