import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Outcome, Plan } from "./simulate.js";

/** Compiled, also where this file is loaded by vitest: Node itself has to load the product. */
const RUN = fileURLToPath(new URL("../dist/run.js", import.meta.url));

export interface RunOptions {
  /** The file to which the trace is written. */
  readonly traceTo?: string;
  /** A program that Node loads first. */
  readonly imported?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** After so many seconds the process is ended, and the outcome is a violation. */
  readonly maxSeconds?: number;
}

/** Simulates a plan in a process of its own. A process that fails counts as a violation. */
export function runPlan(plan: Plan, { traceTo, imported, env = {}, maxSeconds }: RunOptions = {}): Promise<Outcome> {
  const args = ["--expose-gc", ...(imported === undefined ? [] : ["--import", imported]), RUN];
  const child = spawn(process.execPath, [...args, JSON.stringify({ ...plan, ...(traceTo && { traceTo }) })], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-4_000);
  });
  const timer = maxSeconds === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), maxSeconds * 1_000);
  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const line = output.trimEnd().split("\n").at(-1) ?? "";
      if (code === 0 && line.startsWith("{")) return resolve(JSON.parse(line) as Outcome);
      const detail = signal === null ? `exit code ${code}: ${errors}` : `ended after ${maxSeconds} s`;
      const { seed, minutes } = plan;
      const violations = [{ kind: "process failed", atSeconds: 0, detail }];
      resolve({ seed, minutes, hash: "-", events: 0, faults: [], violations, counts: {}, realSeconds: 0 });
    });
  });
}
