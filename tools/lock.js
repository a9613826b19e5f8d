// Locks dependencies: `npm run lock`. npm omits optional packages of other platforms that the current registry does not
// have, and then `npm ci` rejects the lock everywhere. With name and version restored, npm fetches such a package only on
// its platform.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readArguments } from "./arguments.js";
import { ROOT } from "./repository-root.js";

const USAGE = `Usage: npm run lock [-- FOLDER]

Runs npm install and restores what npm leaves out of package-lock.json. Run it instead of npm install after you have
changed a dependency in a package.json.

  FOLDER   a folder with a lock of its own, such as compatibility (default: the repository)
  --help   show this text

Examples
  npm run lock
  npm run lock -- compatibility`;

/** @type {Record<string, string>} */
const CPUS = { amd64: "x64", x64: "x64", arm64: "arm64" };

const { positionals } = readArguments(USAGE, {}, { allowPositionals: true });
const folder = join(ROOT, positionals[0] ?? ".");
// What a folder of its own has as peers, the repository has; and the folder's command installs the rest.
const ofFolder = positionals.length > 0 ? ["--legacy-peer-deps", "--package-lock-only"] : [];
execFileSync("npm", ["install", "--ignore-scripts", "--omit-lockfile-registry-resolved", ...ofFolder], {
  cwd: folder,
  stdio: "inherit",
});

const path = join(folder, "package-lock.json");
const lock = JSON.parse(readFileSync(path, "utf8"));
for (const { dev, optionalDependencies = {} } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const [, os, cpu, libc] = /-(android|darwin|linux|win32)-(amd64|x64|arm64)(-musl)?$/.exec(name) ?? [];
    if (!os || lock.packages[`node_modules/${name}`]) continue;
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu: [CPUS[cpu ?? ""]],
      ...(dev && { dev }),
      ...(libc && { libc: ["musl"] }),
      optional: true,
      os: [os],
    };
    console.log(`${name}@${version}`);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
