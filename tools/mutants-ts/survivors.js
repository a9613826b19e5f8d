import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A change that no unit test notices: in `file`, in the line that reads `line`, `original` became `replacement`.
 *
 * @typedef {{ file: string, line: string, original: string, replacement: string }} Survivor
 */

/**
 * What is read of StrykerJS's report. https://github.com/stryker-mutator/mutation-testing-elements describes it.
 *
 * @typedef {{ line: number, column: number }} Position
 * @typedef {{ status: string, replacement: string, location: { start: Position, end: Position } }} Mutant
 * @typedef {{ files: Record<string, { source: string, mutants: Mutant[] }> }} Report
 */

const UNNOTICED = ["Survived", "NoCoverage"];
const NOTICED = ["Killed", "Timeout"];

/**
 * @param {Report} report
 * @returns {Survivor[]}
 */
export function findSurvivors(report) {
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split("\n");
    return mutants
      .filter(({ status }) => UNNOTICED.includes(status))
      .map(({ replacement, location: { start, end } }) => {
        const first = lines[start.line - 1] ?? "";
        const to = start.line === end.line ? end.column - 1 : first.length;
        return { file, line: first.trim(), original: first.slice(start.column - 1, to), replacement };
      });
  });
}

/** @param {Report} report */
export function score(report) {
  const statuses = Object.values(report.files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const killed = statuses.filter((status) => NOTICED.includes(status)).length;
  return { killed, total: killed + statuses.filter((status) => UNNOTICED.includes(status)).length };
}

/**
 * The survivors that change nothing, each with the reason.
 *
 * @returns {(Survivor & { why: string })[]}
 */
export function readListedSurvivors() {
  return JSON.parse(readFileSync(join(import.meta.dirname, "survivors.json"), "utf8"));
}
