// Installs what only some commands need: a folder that is no workspace has a lock of its own. Its peer dependencies are
// those of the repository around it.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "./repository-root.js";

/**
 * Installs what the lock of a folder names, unless that is what is installed.
 *
 * @type {typeof import("./install-folder.js").installFolder}
 */
export function installFolder(folder, env = process.env) {
  const cwd = join(ROOT, folder);
  const lock = readFileSync(join(cwd, "package-lock.json"));
  const hash = createHash("sha256").update(lock).digest("hex");
  const installed = join(cwd, "node_modules", ".installed");
  if (existsSync(installed) && readFileSync(installed, "utf8") === hash) return;
  console.log(`Installing the packages of ${folder}`);
  const flags = ["--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["ci", ...flags], { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
  writeFileSync(installed, hash);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const folder of process.argv.slice(2)) installFolder(folder);
}
