// Removes one guard at a time from a copy of the contracts, and fails unless every test that test/mutants.json lists
// for that guard fails without it. `npm run mutants -- <text>` covers only guards whose name, file or invariant has
// the text.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments } from "./arguments.js";
import { foundryBinary, foundryEnv } from "./foundry.js";
import { ROOT } from "./repository-root.js";

const USAGE = `Usage: npm run mutants [-- TEXT]

Removes one guard at a time from a copy of the contracts, and fails unless every test that should catch the change
fails. It prints the result for each guard. All guards together take hours.

  TEXT     only guards whose name, file or invariant has this text (default: all guards)
  --help   show this text

Examples
  npm run mutants -- I12
  npm run mutants -- Committee.sol`;

/** The files that forge needs to compile and run the tests. */
const COPIED = ["foundry.toml", "src", "script", "test", "protocol/vectors"];
const LINKED = ["lib", "node_modules"];

/** Fixed, so that every run gives the same result. */
const SETTINGS = { FOUNDRY_FUZZ_SEED: "0x1", FOUNDRY_PROFILE: "default", FOUNDRY_INVARIANT_SHRINK_RUN_LIMIT: "0" };

/**
 * Returns the guards, in the order of the list.
 *
 * @type {typeof import("./mutants.js").readMutants}
 */
export function readMutants() {
  return JSON.parse(readFileSync(join(ROOT, "test/mutants.json"), "utf8"));
}

/**
 * Returns the source without the guard.
 *
 * @type {typeof import("./mutants.js").mutate}
 * @throws Error if the source does not have the guard exactly once.
 */
export function mutate(source, { guard, file, find, replace }) {
  const times = source.split(find).length - 1;
  if (times !== 1)
    throw new Error(
      `${file} has the text of "${guard}" ${times} times instead of once. Fix \`find\` in test/mutants.json.`,
    );
  return source.replace(find, () => replace);
}

function copyProject() {
  const folder = mkdtempSync(join(tmpdir(), "mutants-"));
  for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  for (const path of LINKED) symlinkSync(join(ROOT, path), join(folder, path));
  return folder;
}

/**
 * @param {string} folder
 * @param {readonly string[]} names
 * @returns {Map<string, boolean>} By the name of each test, true if it passed in every contract that has it.
 */
function runTests(folder, names) {
  const { stdout, stderr } = spawnSync(
    foundryBinary("forge"),
    ["test", "--json", "--allow-failure", "--match-test", `^(${names.join("|")})\\(`],
    { cwd: folder, env: { ...foundryEnv(), ...SETTINGS }, encoding: "utf8", maxBuffer: 1 << 30 },
  );
  const json = stdout.slice(stdout.lastIndexOf("\n{", stdout.length - 3) + 1);
  if (!json.startsWith("{")) throw new Error(`forge did not run the tests:\n${stdout}\n${stderr}`);
  /** @type {Map<string, boolean>} */
  const passed = new Map(names.map((name) => [name, true]));
  const seen = new Set();
  /** @type {Record<string, { test_results: Record<string, { status: string }> }>} */
  const suites = JSON.parse(json);
  for (const { test_results: results } of Object.values(suites)) {
    for (const [signature, { status }] of Object.entries(results)) {
      const [name = ""] = signature.split("(");
      seen.add(name);
      if (status !== "Success") passed.set(name, false);
    }
  }
  for (const name of names) {
    if (!seen.has(name)) throw new Error(`There is no test ${name}. Fix \`caughtBy\` in test/mutants.json.`);
  }
  return passed;
}

/**
 * @param {string} filter
 * @returns {number} The exit code.
 */
function run(filter) {
  const mutants = readMutants().filter(({ guard, file, invariants }) =>
    [guard, file, ...invariants].join(" ").includes(filter),
  );
  if (mutants.length === 0) {
    console.error(`No guard has "${filter}" in its name, file or invariants. test/mutants.json lists all guards.`);
    return 2;
  }
  console.log(`${mutants.length} guards. First, all of their tests run with every guard in place.`);
  const folder = copyProject();
  let survived = 0;
  try {
    const whole = runTests(folder, [...new Set(mutants.flatMap(({ caughtBy }) => caughtBy))]);
    const failing = [...whole].filter(([, isPassed]) => !isPassed).map(([name]) => name);
    if (failing.length > 0)
      throw new Error(`Fix these tests first. They fail with every guard in place: ${failing.join(", ")}`);
    for (const [index, mutant] of mutants.entries()) {
      const path = join(folder, mutant.file);
      const source = readFileSync(path, "utf8");
      writeFileSync(path, mutate(source, mutant));
      const missed = [...runTests(folder, mutant.caughtBy)].filter(([, isPassed]) => isPassed).map(([name]) => name);
      writeFileSync(path, source);
      if (missed.length > 0) ++survived;
      const verdict =
        missed.length > 0
          ? `SURVIVED: these tests still pass: ${missed.join(", ")}`
          : `caught by ${mutant.caughtBy.join(", ")}`;
      console.log(`${index + 1}/${mutants.length} ${mutant.invariants.join(", ") || "-"} ${mutant.guard}: ${verdict}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  console.log(`Removals that tests catch: ${mutants.length - survived} of ${mutants.length}.`);
  return survived === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { positionals } = readArguments(USAGE, {}, { allowPositionals: true });
  process.exitCode = run(positionals.join(" "));
}
