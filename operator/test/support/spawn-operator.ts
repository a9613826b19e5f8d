import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const MAIN = join(import.meta.dirname, "..", "..", "dist", "main.js");

/** Starts the operator as its owner does. The process ends before the test does, so that a failure shows its output. */
export function spawnOperator(args: readonly string[], env: Record<string, string> = {}) {
  const options = { env: { PATH: process.env.PATH, ...env }, timeout: 280_000 };
  const child = spawn(process.execPath, [MAIN, ...args], options);
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
