// Fails unless the tests cover every line and every branch of src/, apart from the exceptions below.
//
// It needs two runs. The deployed contracts compile only with via_ir, with which forge loses the lines of inline
// assembly. So one run takes most tests with `--ir-minimum`, and another one, without it, takes those of the libraries
// and types, which have most of the assembly. A line counts if either run covers it. Neither run sees the assembly of
// the contracts themselves, so it is counted separately.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "./arguments.js";
import { runFoundry } from "./foundry.js";
import { ROOT } from "./repository-root.js";

const USAGE = `Usage: npm run coverage

Runs the tests twice, and fails unless they cover every line and every branch of src/, apart from the exceptions
listed in tools/solidity-coverage.js.

  --help   show this text

Example
  npm run coverage`;

readArguments(USAGE);

/** Lines outside assembly that neither run can see, although tests cover them. */
const EXCEPTIONS = [
  {
    file: "src/GovernanceAndIncome.sol",
    line: "_setNewIncomeAside();",
    why: "The compiler inlines the function. The tests of a former committee's income execute both calls.",
  },
  {
    file: "src/Dataset.sol",
    line: "_requireFreeReading();",
    why: "The compiler inlines the function. test/Dataset.subscriptions.t.sol executes it.",
  },
  {
    file: "src/Dataset.sol",
    line: "_requireVerificationPrice();",
    why: "The compiler inlines the function. The tests of the payment of a verification execute both calls.",
  },
  {
    file: "src/Dataset.sol",
    line: "if (typehash == BATCH_TYPEHASH) {",
    why: "The compiler makes a copy of the function for each of the two values. The tests of updates and batches execute both.",
  },
  {
    file: "src/mocks/MockOracle.sol",
    line: "if (until < block.timestamp) until = block.timestamp;",
    why: "It is compiled to a maximum. The test of the mock's subscriptions covers both branches.",
  },
  {
    file: "src/Subscriptions.sol",
    line: "if (until < block.timestamp) until = block.timestamp;",
    why: "It is compiled to a maximum. The tests of a first period and of one that follows cover both branches.",
  },
  {
    file: "src/adapters/ChainlinkAdapter.sol",
    line: "if (status != Oracle.QueryStatus.OK || answer == 0) _revertNoData();",
    why: "The compiler merges the two reverts. The tests of an answer without data execute it.",
  },
  {
    file: "src/adapters/ChainlinkAdapter.sol",
    line: "if (round != id) _revertNoData();",
    why: "The compiler merges the two reverts. The tests of another round's id execute it.",
  },
];

/** Tests that need more gas than there is without the optimizer. */
const LEFT_OUT = [
  "--no-match-test",
  [
    "test_shareIncome_keepsAQueryPaidMeanwhile",
    "test_accuse_neverWeakensTheCommittee",
    "test_shareIncome_RevertWhen_tooLittleGasIsLeftForARefusal",
  ].join("|"),
];
const DEPLOYED = ["Dataset.sol", "MedianDataset.sol", "MajorityDataset.sol", "script"];

const RUNS = {
  deployed: ["--ir-minimum", "--no-match-path", "test/{gas,invariant}/*", ...LEFT_OUT],
  libraries: ["--match-path", "test/{libraries,types}/*", ...DEPLOYED.flatMap((name) => ["--skip", name])],
};

/** Adds the hits of an lcov report to `hits`: by file, then by line or branch. */
function read(report, hits) {
  let file = "";
  const add = (place, count) => hits.get(file)?.set(place, (hits.get(file)?.get(place) ?? 0) + (Number(count) || 0));
  for (const entry of readFileSync(report, "utf8").split("\n")) {
    const [kind, rest = ""] = entry.split(/:(.*)/s);
    const parts = rest.split(",");
    if (kind === "SF") file = rest;
    if (kind === "SF" && rest.startsWith("src/") && !hits.has(rest)) hits.set(rest, new Map());
    if (kind === "DA") add(parts[0], parts[1]);
    if (kind === "BRDA") add(`${parts[0]}, branch ${parts[1]}.${parts[2]}`, parts[3]);
  }
}

/** Folders whose assembly the second run sees. */
const SEEN = /^src\/(libraries|types)\//;

/**
 * Returns the lines of a file that are in blocks of assembly.
 * @param {string[]} lines
 * @returns {Set<number>} Their numbers, from 1.
 */
function assemblyLines(lines) {
  const found = new Set();
  let end = null;
  for (const [index, line] of lines.entries()) {
    if (end !== null && line === end) end = null;
    else if (end !== null) found.add(index + 1);
    else if (/^\s*assembly .*\{$/.test(line)) end = `${line.match(/^\s*/)[0]}}`;
  }
  return found;
}

const folder = mkdtempSync(join(tmpdir(), "coverage-"));
const hits = new Map();
let failed = false;
let runs = 0;
try {
  // No other run can use the artifacts of these, and compiler profiles for single files would count every line twice.
  Object.assign(process.env, {
    FOUNDRY_PROFILE: "coverage",
    FOUNDRY_OUT: "out/coverage",
    FOUNDRY_CACHE_PATH: "cache/coverage",
  });
  for (const [name, args] of Object.entries(RUNS)) {
    console.log(`Run ${++runs} of ${Object.keys(RUNS).length}: ${name}`);
    const report = join(folder, `${name}.info`);
    const output = ["--report", "lcov", "--report-file", report, "--exclude-tests"];
    const code = await runFoundry("forge", ["coverage", ...output, ...args]);
    failed ||= code !== 0;
    read(report, hits);
  }
} finally {
  rmSync(folder, { recursive: true });
}

const used = new Set();
let [taken, missed, unseen] = [0, 0, 0];
for (const [file, places] of [...hits].sort()) {
  const lines = readFileSync(join(ROOT, file), "utf8").split("\n");
  const assembly = SEEN.test(file) ? new Set() : assemblyLines(lines);
  for (const [place, count] of places) {
    const line = Number.parseInt(place, 10);
    const text = lines[line - 1]?.trim();
    const exception = EXCEPTIONS.find((one) => one.file === file && one.line === text);
    if (count > 0) ++taken;
    else if (exception) used.add(exception);
    else if (assembly.has(line)) ++unseen;
    else {
      ++missed;
      console.error(`${file}:${place} is not covered: ${text}`);
    }
  }
}
for (const exception of EXCEPTIONS) {
  if (used.has(exception)) console.log(`Excepted: ${exception.file}: ${exception.line} ${exception.why}`);
  else
    console.error(`No longer needed, remove it from tools/solidity-coverage.js: ${exception.file}: ${exception.line}`);
}
console.log(`Lines and branches: ${taken} covered, ${missed} not, ${unseen} in contracts' assembly that no run sees.`);
if (failed || missed > 0 || taken === 0 || used.size < EXCEPTIONS.length) process.exitCode = 1;
