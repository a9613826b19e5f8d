import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { operatorMain } from "./built-operator.js";

/**
 * Starts the operator as its owner does. The process ends with the test at the latest.
 *
 * @param timeout When it is ended, in milliseconds: by default before the test is, so that a failure shows its output.
 */
export function spawnOperator(args: readonly string[], env: Record<string, string> = {}, timeout = 110_000) {
  const child = spawn(process.execPath, [operatorMain(), ...args], {
    env: { PATH: process.env.PATH, ...env },
    timeout,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (data) => {
      output += data;
    });
  }
  const exited = once(child, "close").then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return { child, exited, output: () => output };
}
