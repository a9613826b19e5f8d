// Changes the decisions of the TypeScript core one place at a time, and fails unless the unit tests notice.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "../arguments.js";
import { installFolder } from "../install-folder.js";
import { ROOT } from "../repository-root.js";
import { MUTATED_FILES } from "./mutated-files.js";
import { findSurvivors, readListedSurvivors, score } from "./survivors.js";

const STRYKER = join(import.meta.dirname, "node_modules/@stryker-mutator/core/bin/stryker.js");
const MIN_KILLED_PERCENT = 90;
const MIN_NODE = 22;

const USAGE = `Usage: npm run mutants:ts [-- TEXT]

Changes one place at a time in the files that tools/mutants-ts/mutated-files.js lists (queue planning, fees, failover,
quorum, schedule, lease, aggregation, report), and runs the unit tests that reach it. It prints each change that no test
notices, and fails if less than ${MIN_KILLED_PERCENT}% are noticed, or if one is not in survivors.json, which says why it is
harmless. It needs Node ${MIN_NODE}, installs StrykerJS in tools/mutants-ts the first time, and takes about 20 minutes.

  TEXT     only files whose path has this text (default: all)
  --help   show this text

Examples
  npm run mutants:ts
  npm run mutants:ts -- fees.ts`;

const { positionals } = readArguments(USAGE, {}, { allowPositionals: true });
process.exitCode = run(positionals.join(" "));

/** @param {string} text */
function run(text) {
  if (Number(process.versions.node.split(".")[0]) < MIN_NODE) {
    console.error(`This is Node ${process.versions.node}, but StrykerJS needs Node ${MIN_NODE} or newer.`);
    return 2;
  }
  const files = MUTATED_FILES.filter((file) => file.includes(text));
  if (files.length === 0) {
    console.error(`No file has "${text}" in its path. tools/mutants-ts/mutated-files.js lists the files.`);
    return 2;
  }
  installFolder("tools/mutants-ts");
  const folder = mkdtempSync(join(tmpdir(), "mutants-ts-"));
  try {
    const report = join(folder, "report.json");
    const config = join(folder, "stryker.config.json");
    writeFileSync(config, JSON.stringify(strykerConfig(files, report)));
    const { status } = spawnSync(process.execPath, [STRYKER, "run", config], { cwd: ROOT, stdio: "inherit" });
    if (status !== 0) return 1;
    return judge(JSON.parse(readFileSync(report, "utf8")), files);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {readonly string[]} files
 * @param {string} report The path of the report.
 */
function strykerConfig(files, report) {
  return {
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "tools/mutants-ts/vitest.config.ts", related: true },
    mutate: files,
    // A text is not a decision. A constant is read once for all tests, so each change of one would run all of them.
    mutator: { excludedMutations: ["StringLiteral"] },
    ignoreStatic: true,
    ignorePatterns: [
      "/.devnet",
      "/out",
      "/cache",
      "/lib",
      "/src",
      "/test",
      "/script",
      "/snapshots",
      "/compatibility",
      "/docs",
      // StrykerJS would read it with TypeScript's JavaScript API, which version 7 does not have.
      "/tsconfig.json",
    ],
    reporters: ["json", "progress-append-only"],
    jsonReporter: { fileName: report },
    tempDirName: "tools/mutants-ts/sandbox",
    concurrency: 2,
    timeoutMS: 10_000,
  };
}

/**
 * Prints what the unit tests noticed.
 *
 * @param {import("./survivors.js").Report} report
 * @param {readonly string[]} files
 */
function judge(report, files) {
  const survivors = findSurvivors(report);
  const { killed, total } = score(report);
  const listed = readListedSurvivors().filter(({ file }) => files.includes(file));
  const unlisted = survivors.filter((one) => !listed.some((other) => isSame(one, other)));
  const obsolete = listed.filter((one) => !survivors.some((other) => isSame(one, other)));
  for (const { file, line, original, replacement } of unlisted) {
    console.log(`SURVIVED ${file}: in "${line}", ${original} became ${replacement}`);
  }
  for (const { file, original, replacement } of obsolete) {
    console.log(`NOTICED, so remove it from survivors.json: ${file}: ${original} became ${replacement}`);
  }
  const percent = (100 * killed) / total;
  console.log(`The unit tests notice ${killed} of ${total} changes (${percent.toFixed(1)}%).`);
  return unlisted.length + obsolete.length === 0 && percent >= MIN_KILLED_PERCENT ? 0 : 1;
}

/**
 * @param {import("./survivors.js").Survivor} one
 * @param {import("./survivors.js").Survivor} other
 */
function isSame(one, other) {
  return (
    one.file === other.file &&
    one.line === other.line &&
    one.original === other.original &&
    one.replacement === other.replacement
  );
}
