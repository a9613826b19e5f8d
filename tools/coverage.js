// Fails unless the tests cover every line and every branch of src/, apart from the exceptions below.
//
// It needs two runs. The deployed contracts compile only with via_ir, with which forge loses the lines of inline
// assembly. So one run covers all tests with `--ir-minimum`, and another one, without it, covers the libraries and
// types, which have all but one of the assembly lines. A line counts if either run covers it.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "./arguments.js";
import { runFoundry } from "./foundry.js";
import { ROOT } from "./root.js";

const USAGE = `Usage: npm run coverage

Runs the tests twice, and fails unless they cover every line and every branch of src/, apart from the exceptions
listed in tools/coverage.js.

  --help   show this text

Example
  npm run coverage`;

readArguments(USAGE);

/** Lines that neither run can see, and the tests that cover them nevertheless. */
const EXCEPTIONS = [
  {
    file: "src/DatasetGovernance.sol",
    line: "success := call(gasLimit, to, amount, 0, 0, 0, 0)",
    why: "Assembly in a contract: no run sees it. Every test in Dataset.income.t.sol covers it.",
  },
  {
    file: "src/DatasetGovernance.sol",
    line: "_setNewIncomeAside();",
    why: "The compiler puts the function in its place. The tests of a former committee's income take both calls.",
  },
  {
    file: "src/Dataset.sol",
    line: "mstore(add(add(outcomes, 0x20), shl(5, key)), outcome)",
    why: "Assembly in a contract: no run sees it. Every test of a batch's outcomes takes it.",
  },
  {
    file: "src/Dataset.sol",
    line: "let answer := sub(outcomes, 0x20)",
    why: "Assembly in a contract: no run sees it. Every test of a batch takes it.",
  },
  {
    file: "src/Dataset.sol",
    line: "mstore(answer, 0x20)",
    why: "Assembly in a contract: no run sees it. Every test of a batch takes it.",
  },
  {
    file: "src/Dataset.sol",
    line: "return(answer, add(0x40, shl(5, mload(outcomes))))",
    why: "Assembly in a contract: no run sees it. Every test of a batch takes it.",
  },
  {
    file: "src/Dataset.sol",
    line: "values.offset := 0",
    why: "Assembly in a contract: no run sees it. Every test of a single update takes it.",
  },
  {
    file: "src/Dataset.sol",
    line: "values.length := 0",
    why: "Assembly in a contract: no run sees it. Every test of a single update takes it.",
  },
  {
    file: "src/Dataset.sol",
    line: "return KeyOutcome.STORED;",
    why: "The compiler makes one piece of code of the two returns. The differential test takes both.",
  },
];

/** Tests of a gas limit, which code without the optimizer exceeds. */
const LEFT_OUT = [
  "--no-match-test",
  "test_shareIncome_keepsAQueryPaidMeanwhile|test_shareIncome_costsAtMostItsSharesWhenAllBurn",
];
const DEPLOYED = ["Dataset.sol", "MedianDataset.sol", "MajorityDataset.sol", "script"];

const RUNS = {
  deployed: ["--ir-minimum", "--no-match-path", "test/{gas,invariant}/*", ...LEFT_OUT],
  libraries: ["--match-path", "test/{libraries,types}/*", ...DEPLOYED.flatMap((name) => ["--skip", name])],
};

/** Adds the hits of an lcov report: by file, by line or branch. */
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

const folder = mkdtempSync(join(tmpdir(), "coverage-"));
const hits = new Map();
let failed = false;
let runs = 0;
try {
  // An artifact of these runs is no use to any other; and a profile for each file would count every line twice.
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
let [taken, missed] = [0, 0];
for (const [file, places] of [...hits].sort()) {
  const lines = readFileSync(join(ROOT, file), "utf8").split("\n");
  for (const [place, count] of places) {
    const text = lines[Number.parseInt(place, 10) - 1]?.trim();
    const exception = EXCEPTIONS.find((one) => one.file === file && one.line === text);
    if (count > 0) ++taken;
    else if (exception) used.add(exception);
    else {
      ++missed;
      console.error(`${file}:${place} is not taken: ${text}`);
    }
  }
}
for (const exception of EXCEPTIONS) {
  if (used.has(exception)) console.log(`Excepted: ${exception.file}: ${exception.line} ${exception.why}`);
  else console.error(`Not an exception any more, take it out: ${exception.file}: ${exception.line}`);
}
console.log(`${taken} lines and branches taken, ${missed} not.`);
if (failed || missed > 0 || taken === 0 || used.size < EXCEPTIONS.length) process.exitCode = 1;
