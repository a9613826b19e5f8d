// Runs Slither over src/, and fails unless every result stands in test/slither.json with the reason why it is no fault.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments } from "./arguments.js";
import { foundryBinary, runFoundry } from "./foundry.js";
import { ROOT } from "./repository-root.js";

/** Another version may word its results differently. */
const VERSION = "0.11.6";

const USAGE = `Usage: npm run slither

Compiles src/ and runs Slither ${VERSION} over it. Fails for every result that test/slither.json does not explain, and for
every explanation there that explains no result. Slither is a Python package:

  pip install slither-analyzer==${VERSION}

  --help   show this text

Example
  npm run slither`;

/** Of this build alone. */
const FOLDERS = { FOUNDRY_OUT: "out/slither", FOUNDRY_CACHE_PATH: "cache/slither" };

/**
 * Returns the explanations: one detector, one reason, and the results that it holds for.
 *
 * @type {typeof import("./slither.js").readTriage}
 */
export function readTriage() {
  return JSON.parse(readFileSync(join(ROOT, "test/slither.json"), "utf8"));
}

/**
 * Returns a result's text on one line, without its places in the files, which change with every edit above them, and
 * without the versions that each file allows: their number changes with every new file.
 *
 * @type {typeof import("./slither.js").describe}
 */
export function describe({ description }) {
  return description
    .replaceAll(/ ?\([^()\s]+\.sol(#[\d-]+)?\)/g, "")
    .split("\n")
    .map((line) => line.trim().replace(/^- /, ""))
    .filter((line) => !/^-?[\^<>=.\d]*$/.test(line))
    .join("; ");
}

/**
 * Compares what Slither found with what is explained.
 *
 * @type {typeof import("./slither.js").compare}
 * @returns The results without an explanation, and the explanations without a result.
 */
export function compare(found, triage) {
  /**
   * @param {import("./slither.js").Explanation} entry
   * @param {import("./slither.js").SlitherResult} result
   */
  const isAbout = ({ check, results }, result) => check === result.check && results.includes(describe(result));
  const unexplained = found.filter((result) => !triage.some((entry) => isAbout(entry, result)));
  const unused = triage.flatMap(({ check, results }) =>
    results
      .filter((text) => !found.some((result) => check === result.check && describe(result) === text))
      .map((text) => ({ check, text })),
  );
  return { unexplained, unused };
}

async function main() {
  readArguments(USAGE);
  const { stdout, error } = spawnSync("slither", ["--version"], { encoding: "utf8" });
  if (error || stdout.trim() !== VERSION) {
    const installed = error ? "not installed" : `installed in version ${stdout.trim()}`;
    console.error(`Slither is ${installed}. Run "pip install slither-analyzer==${VERSION}", and try again.`);
    return 1;
  }
  Object.assign(process.env, FOLDERS);
  // Slither also reads the build info of earlier builds.
  for (const folder of Object.values(FOLDERS)) rmSync(join(ROOT, folder), { recursive: true, force: true });
  if ((await runFoundry("forge", ["build", "src", "--build-info", "--quiet"])) !== 0) {
    console.error('forge build failed. Run "npm run build:sol" to see the errors.');
    return 1;
  }
  const { unexplained, unused } = compare(findings(), readTriage());
  for (const result of unexplained)
    console.error(`${result.impact}, ${result.check}: ${describe(result)}\n  in ${placeOf(result)}`);
  for (const { check, text } of unused)
    console.error(`test/slither.json explains a result that is gone. Remove it: ${check}: ${text}`);
  const known = readTriage().reduce((sum, { results }) => sum + results.length, 0);
  console.log(
    `${unexplained.length} results without an explanation, ${known} explained, ${unused.length} out of date.`,
  );
  if (unexplained.length > 0) console.error("Correct the code, or say in test/slither.json why each is no fault.");
  return unexplained.length + unused.length > 0 ? 1 : 0;
}

/**
 * Returns what Slither finds in the compiled contracts.
 *
 * @returns {import("./slither.js").PlacedResult[]}
 */
function findings() {
  const folder = mkdtempSync(join(tmpdir(), "slither-"));
  try {
    const report = join(folder, "report.json");
    // Slither asks forge for the project's settings.
    const env = { ...process.env, PATH: `${dirname(foundryBinary("forge"))}${delimiter}${process.env.PATH}` };
    const options = ["--ignore-compile", "--foundry-out-directory", FOLDERS.FOUNDRY_OUT, "--exclude-dependencies"];
    const { status, stderr } = spawnSync("slither", [".", ...options, "--fail-none", "--json", report], {
      cwd: ROOT,
      env,
      encoding: "utf8",
      maxBuffer: 1 << 26,
    });
    if (status !== 0) throw new Error(`Slither failed:\n${stderr}`);
    return JSON.parse(readFileSync(report, "utf8")).results.detectors ?? [];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {import("./slither.js").PlacedResult} result */
function placeOf({ elements: [element] }) {
  return element ? `${element.source_mapping.filename_relative}:${element.source_mapping.lines[0]}` : "several files";
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main();
