// The versions of Node that are supported. The newest that npm has of each is installed in a folder of its own.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The exact versions, by the name that messages have for them. */
const VERSIONS = { 20: "20.20.2", 22: "22.23.3", 24: "24.21.0" };

const MAJORS = /** @type {const} */ ([20, 22, 24]);

/** Some programs need a newer Node than this repository does: Hardhat 3 and its native binaries, and Ponder. */
export const NEWER = 22;

/** @param {keyof typeof VERSIONS} major */
const folderOf = (major) => fileURLToPath(new URL(`.nodes/${VERSIONS[major]}`, import.meta.url));

/**
 * Returns the path of a version's binary, which `installNodes` installs.
 *
 * @param {keyof typeof VERSIONS} major
 */
export const nodeBinary = (major) => join(folderOf(major), "node_modules/node/bin/node");

/** The paths of all binaries. */
export const NODES = MAJORS.map(nodeBinary);

export function installNodes() {
  for (const major of MAJORS) {
    if (existsSync(nodeBinary(major))) continue;
    console.log(`Installing Node ${VERSIONS[major]}`);
    mkdirSync(folderOf(major), { recursive: true });
    const flags = ["--silent", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", "."];
    execFileSync("npm", ["install", ...flags, `node@${VERSIONS[major]}`], { cwd: folderOf(major), stdio: "inherit" });
  }
}

/**
 * Returns an environment in which a version comes first.
 *
 * @type {typeof import("./nodes.js").withNode}
 */
export const withNode = (major, env = process.env) => ({
  ...env,
  PATH: `${dirname(nodeBinary(major))}:${env.PATH}`,
});
