import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Mutant } from "./mutants.js";
import type { Plan, SimulationOutcome } from "./simulate.js";

/** Compiled, also where this file is loaded by vitest: Node itself has to load the product. */
const RUN = fileURLToPath(new URL("../dist/run.js", import.meta.url));
const RUN_PROVIDERS = fileURLToPath(new URL("../dist/providers/run.js", import.meta.url));
const MUTATE = fileURLToPath(new URL("../dist/mutate.js", import.meta.url));

/** One thread and room for what is short-lived: a third less work, and as many simulations at once as there are cores. */
const NODE_OPTIONS = ["--expose-gc", "--single-threaded", "--min-semi-space-size=32", "--max-semi-space-size=32"];

export interface RunOptions {
  /** The file to which the trace is written. */
  readonly traceTo?: string;
  /** Simulates providers, and an operator that asks them, in place of operators with a simulated committee. */
  readonly providers?: boolean;
  /** The file to which the chain is written, as a RecordedChain. */
  readonly recordTo?: string;
  /** A fault that is planted in the product. */
  readonly mutant?: Mutant;
  /** Options of Node, beside those that every simulation has. */
  readonly node?: readonly string[];
}

/** Simulates a plan in a process of its own. A process that fails counts as a violation. */
export function runPlan(plan: Plan, options: RunOptions = {}): Promise<SimulationOutcome> {
  const { traceTo, recordTo, mutant, providers, node = [] } = options;
  const imported = mutant === undefined ? [] : ["--import", MUTATE];
  const args = [
    ...NODE_OPTIONS,
    ...node,
    ...imported,
    providers ? RUN_PROVIDERS : RUN,
    JSON.stringify({ ...plan, traceTo, recordTo }),
  ];
  const env = mutant === undefined ? process.env : { ...process.env, MUTANT: JSON.stringify(mutant) };
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-4_000);
  });
  return new Promise((resolve) => {
    child.on("close", (code) => {
      const line = output.trimEnd().split("\n").at(-1) ?? "";
      if (code === 0 && line.startsWith("{")) return resolve(JSON.parse(line) as SimulationOutcome);
      const { seed, minutes } = plan;
      const violations = [{ kind: "process failed", atSeconds: 0, detail: `exit code ${code}: ${errors}` }];
      resolve({ seed, minutes, hash: "-", events: 0, faults: [], violations, counts: {}, realSeconds: 0 });
    });
  });
}

/** Does some work with each of all, as many at once as there are cores. */
export async function onAllCores<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = all.values();
  const workUntilNoneIsLeft = async () => {
    for (const one of waiting) await work(one);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, workUntilNoneIsLeft));
}
