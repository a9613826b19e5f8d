// Compiles geth, on which some tests run where it is there: `npm run geth`. It is not on npm, and compiling it takes
// minutes, so it stays in the user's cache.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments } from "./arguments.js";

const VERSION = "1.17.10";

const USAGE = `Usage: npm run geth

Compiles geth ${VERSION} with Go in about five minutes, once, into ~/.cache/dataset-oracle (90 MB). Tests that need it
run where it is there.

  --help   show this text

Example
  npm run geth`;

/** Returns the path of geth, which exists once it is compiled. */
export const gethBinary = () => join(homedir(), ".cache", "dataset-oracle", `geth-${VERSION}`, "geth");

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readArguments(USAGE);
  if (!existsSync(gethBinary())) compile();
  console.log(gethBinary());
}

/** Go moves the program to its place once it is complete. */
function compile() {
  if (spawnSync("go", ["version"]).error !== undefined) {
    console.error("Go, which compiles geth, is not installed. Install it, and try again.");
    process.exit(1);
  }
  execFileSync("go", ["install", `github.com/ethereum/go-ethereum/cmd/geth@v${VERSION}`], {
    env: { ...process.env, GOBIN: dirname(gethBinary()), GOFLAGS: "-mod=mod" },
    stdio: "inherit",
  });
}
