#!/usr/bin/env node
// A compiler executable for forge over the npm package `solc`: `--version`, or standard JSON from stdin to stdout.

import { readFileSync } from "node:fs";
import solc from "solc";

if (process.argv.includes("--version")) {
  console.log(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}`);
} else {
  process.stdout.write(solc.compile(readFileSync(0, "utf8")));
}
