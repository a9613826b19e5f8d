import { ExitError } from "../config/config-error.js";

/**
 * Runs a program. An ExitError is printed without a stack, and ends the process with its exit code.
 */
export async function runMain(main: () => Promise<void>): Promise<void> {
  // A wait keeps no process alive. What a program waits for does.
  const alive = setInterval(() => {}, 2 ** 31 - 1);
  try {
    await main();
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    // Printed at the exit, after the lines that the log still holds, so that it comes last.
    process.once("exit", () => console.error(error.message));
    process.exit(error.exitCode);
  } finally {
    clearInterval(alive);
  }
}
