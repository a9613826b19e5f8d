// Proves the statements of test/proofs with solc's model checker and the Z3 solver, and fails unless every assertion is
// proven in a function named `proof`, and refuted in one named `counterexample`: a proof that could not fail proves
// nothing. Where Halmos is installed, it does the same with the `check_` and `refute_` functions of test/symbolic.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import solc from "solc";
import { readArguments } from "./arguments.js";
import { foundryBinary, foundryEnv, runFoundry } from "./foundry.js";
import { installFolder } from "./install-folder.js";
import { ROOT } from "./repository-root.js";

const HALMOS = "0.3.3";

const USAGE = `Usage: npm run prove

Proves the statements of test/proofs about the functions of src/libraries, for all inputs, and refutes a false variant
of each. Where Halmos ${HALMOS} is installed, does so with the statements of test/symbolic, too. It is a Python package:

  pip install halmos==${HALMOS}

  --help   show this text

Example
  npm run prove`;

readArguments(USAGE);
installFolder("tools/prover");

const FOLDER = "test/proofs";
/** A query takes a few seconds at most. */
const QUERY_TIMEOUT_MS = 60_000;
/**
 * The verdicts of the model checker (CHC), by the code of its message.
 *
 * @type {Record<string, string>}
 */
const VERDICTS = { 9576: "proven", 6328: "refuted" };

/**
 * Halmos's verdicts, by its exit code for a test.
 *
 * @type {Record<number, string>}
 */
const HALMOS_VERDICTS = { 0: "proven", 1: "refuted" };

/** The compiler blocks until its solver answers, and the solver is asynchronous, so it runs in a thread of its own. */
const signal = new Int32Array(new SharedArrayBuffer(8));
const text = new Uint8Array(new SharedArrayBuffer(1 << 20));
const solver = new Worker(new URL("./prover/z3-worker.js", import.meta.url), { workerData: { signal, text } });

/** @param {string} query */
function smtSolver(query) {
  Atomics.store(signal, 0, 0);
  solver.postMessage(query);
  if (Atomics.wait(signal, 0, 0, QUERY_TIMEOUT_MS) === "timed-out") {
    throw new Error(`The solver gave no answer within ${QUERY_TIMEOUT_MS} ms. Try again on an idle machine.`);
  }
  return { contents: Buffer.from(text.slice(0, signal[1])).toString() };
}

/** @param {string} path */
const read = (path) => ({ contents: readFileSync(join(ROOT, path), "utf8") });

/**
 * A message of the compiler.
 *
 * @typedef {object} Message
 * @property {string} severity
 * @property {string} errorCode
 * @property {string} formattedMessage
 * @property {{ file: string, start: number }} [sourceLocation]
 */

/**
 * Runs the model checker on one contract.
 *
 * @param {string} path
 * @param {string} contract
 * @returns {Message[]}
 */
function check(path, contract) {
  const input = {
    language: "Solidity",
    sources: { [path]: { content: read(path).contents } },
    settings: {
      modelChecker: {
        engine: "chc",
        solvers: ["smtlib2"],
        targets: ["assert"],
        contracts: { [path]: [contract] },
        showProvedSafe: true,
        showUnproved: true,
      },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: read, smtSolver }));
  return output.errors ?? [];
}

/**
 * Returns the assertions of a contract, in order: where each is, and its expected verdict.
 *
 * @param {string} source
 * @param {string} contract
 */
function assertions(source, contract) {
  const start = source.indexOf(`contract ${contract} `);
  const end = source.indexOf("\n}", start);
  const isFalseAfter = source.indexOf("function counterexample", start);
  return [...source.matchAll(/\bassert\(/g)]
    .map(({ index }) => ({ index, expected: index > isFalseAfter ? "refuted" : "proven" }))
    .filter(({ index }) => index > start && index < end);
}

let wrong = 0;
let total = 0;
for (const file of readdirSync(join(ROOT, FOLDER)).sort()) {
  const path = `${FOLDER}/${file}`;
  const source = read(path).contents;
  for (const [, contract = ""] of source.matchAll(/^contract (\w+) /gm)) {
    const began = performance.now();
    const messages = check(path, contract);
    const compilation = messages.find(({ severity }) => severity === "error");
    if (compilation) throw new Error(compilation.formattedMessage);
    for (const { index, expected } of assertions(source, contract)) {
      const message = messages.find(
        ({ errorCode, sourceLocation }) =>
          errorCode in VERDICTS && sourceLocation?.file === path && sourceLocation.start === index,
      );
      const verdict = VERDICTS[message?.errorCode ?? ""] ?? "undecided";
      ++total;
      if (verdict !== expected) ++wrong;
      console.log(`${verdict === expected ? "ok   " : "WRONG"} ${contract}: ${verdict}, expected ${expected}`);
    }
    console.log(`      ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
}
console.log(`${total - wrong} of ${total} assertions have the expected verdict.`);
await solver.terminate();
const isProven = wrong === 0 && total > 0;
const isHalmosRight = await checkWithHalmos();
// Z3 leaves threads behind.
process.exit(isProven && isHalmosRight ? 0 : 1);

/** Returns false if Halmos is there and a function of test/symbolic has another verdict than its name says. */
async function checkWithHalmos() {
  if (spawnSync("halmos", ["--version"]).error) {
    console.log(`Halmos is not installed, so test/symbolic was left out. "pip install halmos==${HALMOS}" installs it.`);
    return true;
  }
  // The symbolic tests take the deployed contracts from this build.
  if ((await runFoundry("forge", ["build", "src", "--quiet"])) !== 0)
    throw new Error('forge build failed. Run "npm run build:sol" to see the errors.');
  // Halmos also runs what earlier builds have left there.
  for (const path of ["out/symbolic", "cache/symbolic"]) rmSync(join(ROOT, path), { recursive: true, force: true });
  const folder = mkdtempSync(join(tmpdir(), "halmos-"));
  try {
    const report = join(folder, "report.json");
    // Halmos has forge compile.
    const path = `${dirname(foundryBinary("forge"))}${delimiter}${process.env.PATH}`;
    const env = { ...foundryEnv(), FOUNDRY_PROFILE: "symbolic", PATH: path };
    const options = [
      "--match-test",
      "^(check|refute)_",
      "--solver-timeout-assertion",
      "300s",
      "--loop",
      "10",
      "--early-exit",
      "--no-status",
      "--forge-build-out",
      "out/symbolic",
    ];
    const { stdout, stderr } = spawnSync("halmos", [...options, "--json-output", report], {
      cwd: ROOT,
      env,
      encoding: "utf8",
    });
    const results = Object.values(readReport(report, `${stdout}${stderr}`).test_results).flat();
    let right = 0;
    for (const { name, exitcode } of results) {
      const verdict = HALMOS_VERDICTS[exitcode] ?? "undecided";
      const expected = name.startsWith("check_") ? "proven" : "refuted";
      if (verdict === expected) ++right;
      console.log(`${verdict === expected ? "ok   " : "WRONG"} ${name}: ${verdict}, expected ${expected}`);
    }
    console.log(`${right} of ${results.length} symbolic tests have the expected verdict.`);
    return right === results.length && results.length > 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {string} path
 * @param {string} output What Halmos printed.
 * @returns {{ test_results: Record<string, { name: string, exitcode: number }[]> }}
 */
function readReport(path, output) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new Error(`Halmos wrote no report:\n${output}`);
  }
}
