#!/usr/bin/env node
/** `npm run simulate`: simulates seeds, one process for each, and lists what was violated. */

import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readArguments } from "@dataset-oracle/tools/arguments";
import { FAULTS } from "./faults.js";
import { PROVIDER_FAULTS } from "./providers/faults.js";
import { runMutants } from "./run-mutants.js";
import { onAllCores, runPlan } from "./run-plan.js";
import type { SimulationOutcome } from "./simulate.js";

const FAULT_NAMES = FAULTS.map(({ name }) => name);
const PROVIDER_FAULT_NAMES = PROVIDER_FAULTS.map(({ name }) => name);

const USAGE = `Usage: npm run simulate [-- OPTIONS]

Runs the operator's own code in virtual time: several operators, a chain, its endpoints, a committee and callers in a
process for each seed, with faults that the seed chooses, and as many at once as there are cores. README.md beside this
program says what is modelled.

  --seeds FROM-TO     which seeds (default: 1-20)
  --minutes N         virtual minutes of each (default: 30)
  --only FAULTS       only these classes of faults, with commas between them, or "none"
  --replay SEED       one seed, with its trace on the standard output
  --providers         simulates providers, with their decisions, leases, files and clocks, and an operator that asks them
  --mutants           plants faults in the product, one at a time, and shows that each is found
  --trace FOLDER      writes each seed's trace to FOLDER/SEED.log
  --help              show this text

Faults
${FAULT_NAMES.map((name) => `  ${name}`).join("\n")}

Faults with --providers
${PROVIDER_FAULT_NAMES.map((name) => `  ${name}`).join("\n")}

The exit code is 1 if anything was violated, or a planted fault was not found.

Examples
  npm run simulate -- --seeds 1-200 --minutes 60
  npm run simulate -- --replay 16`;

const { values } = readArguments(USAGE, {
  seeds: { type: "string", default: "1-20" },
  minutes: { type: "string", default: "30", range: [5, 1_440] },
  only: { type: "string" },
  replay: { type: "string", range: [0, 2 ** 31] },
  trace: { type: "string" },
  providers: { type: "boolean" },
  mutants: { type: "boolean" },
});

if (values.mutants) process.exit((await runMutants()) ? 0 : 1);

const only = values.only ?? null;
const providers = values.providers === true;
const names = ["none", ...(providers ? PROVIDER_FAULT_NAMES : FAULT_NAMES)];
const unknown = only?.split(",").find((name) => !names.includes(name));
if (unknown !== undefined) fail(`--only ${unknown}: there is no such fault`);
const minutes = Number(values.minutes);
const seeds = values.replay === undefined ? readSeeds(values.seeds) : [Number(values.replay)];
const outcomes: SimulationOutcome[] = [];
await onAllCores(seeds, simulateSeed);
printViolations(outcomes.toSorted((a, b) => a.seed - b.seed));
process.exitCode = outcomes.some(({ violations }) => violations.length > 0) ? 1 : 0;

async function simulateSeed(seed: number) {
  const folder = values.replay === undefined ? values.trace : mkdtempSync(join(tmpdir(), "replay-"));
  const traceTo = folder && join(folder, `${seed}.log`);
  const outcome = await runPlan({ seed, minutes, only }, { providers, ...(traceTo && { traceTo }) });
  if (values.replay !== undefined && traceTo) console.log(readFileSync(traceTo, "utf8"));
  outcomes.push(outcome);
  const { hash, events, violations, realSeconds, faults } = outcome;
  const found = violations.length === 0 ? "" : `, ${violations.length} VIOLATIONS`;
  console.log(
    `${outcomes.length}/${seeds.length} seed ${seed}: ${hash}, ${events} events in ${realSeconds.toFixed(1)} s${found} (${faults.join(", ") || "no faults"})`,
  );
}

function readSeeds(text: string): number[] {
  const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  if (from === undefined) return fail(`--seeds ${text}: name one seed, or the first and the last, as in 1-200`);
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i);
}

function fail(message: string): never {
  console.error(`${message}. --help lists the options.`);
  process.exit(2);
}

/** Prints each kind of violation, how often it was found, and the seed and the moment that show it first. */
function printViolations(all: readonly SimulationOutcome[]): void {
  const hours = all.reduce((sum, one) => sum + one.minutes / 60, 0);
  const found = all.flatMap(({ seed, violations }) => violations.map((one) => ({ seed, ...one })));
  console.log(`\n${hours.toFixed(1)} virtual hours, ${found.length} violations.`);
  const kinds = [...new Set(found.map(({ kind }) => kind))];
  for (const kind of kinds) {
    const ofKind = found.filter((one) => one.kind === kind);
    const seeds = [...new Set(ofKind.map(({ seed }) => seed))];
    const first = ofKind[0];
    console.log(`${String(ofKind.length).padStart(5)}  ${kind}, seeds ${seeds.slice(0, 10).join(", ")}`);
    console.log(`       seed ${first?.seed} at ${first?.atSeconds} s: ${first?.detail.split("\n")[0]}`);
    const options = [
      `--minutes ${minutes}`,
      ...(only === null ? [] : [`--only ${only}`]),
      ...(providers ? ["--providers"] : []),
    ];
    console.log(`       npm run simulate -- --replay ${first?.seed} ${options.join(" ")}`);
  }
}
