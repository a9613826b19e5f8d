import { ExitError } from "@dataset-oracle/service/config/config-error";
import { vi } from "vitest";
import { announceUrl } from "../../src/cli/announce.js";
import { publishSpecs } from "../../src/cli/publish.js";
import { replayEvidence } from "../../src/cli/replay.js";
import { checkConfiguration } from "../../src/cli/serve.js";
import { printKey, validateSpec } from "../../src/cli/spec-file.js";
import { tryValue } from "../../src/cli/try.js";

const COMMANDS = {
  check: checkConfiguration,
  try: tryValue,
  validate: validateSpec,
  key: printKey,
  publish: publishSpecs,
  announce: announceUrl,
  replay: replayEvidence,
} as const;

/**
 * Runs a command in this process, as `main.ts` does in a process of its own, and returns its exit code and what it
 * prints. One at a time, because a command has the console and the environment for itself.
 */
export async function runCommand(
  [name, ...args]: readonly [keyof typeof COMMANDS, ...string[]],
  env: Readonly<Record<string, string>> = {},
) {
  const printed = { stdout: "", stderr: "" };
  const capture = (method: "log" | "error", stream: keyof typeof printed) =>
    vi.spyOn(console, method).mockImplementation((text) => {
      printed[stream] += `${text}\n`;
    });
  const spies = [capture("log", "stdout"), capture("error", "stderr")];
  const outer = process.env;
  process.env = { ...env };
  try {
    await COMMANDS[name](args);
    return { code: Number(process.exitCode ?? 0), ...printed };
  } catch (failure) {
    if (!(failure instanceof ExitError)) throw failure;
    return { code: failure.exitCode, stdout: printed.stdout, stderr: `${printed.stderr}${failure.message}\n` };
  } finally {
    process.exitCode = undefined;
    process.env = outer;
    for (const spy of spies) spy.mockRestore();
  }
}
