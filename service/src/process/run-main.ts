import { ExitError } from "../config/config-error.js";

/**
 * Runs a program. An ExitError is printed without a stack, and ends the process with its exit code.
 */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    // Printed at the exit, after the lines that the log still holds, so that it comes last.
    process.once("exit", () => console.error(error.message));
    process.exit(error.exitCode);
  }
}
