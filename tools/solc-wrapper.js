#!/usr/bin/env node
// A compiler executable for forge, around the npm package `solc`: `--version`, or standard JSON from stdin to stdout.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

if (process.argv.includes("--version")) {
  // Every run of forge asks for the version, and loading the compiler would take most of a run that compiles nothing.
  const { version } = require("solc/package.json");
  console.log(`solc, the solidity compiler commandline interface\nVersion: ${version}`);
} else {
  process.stdout.write(require("solc").compile(readFileSync(0, "utf8")));
}
