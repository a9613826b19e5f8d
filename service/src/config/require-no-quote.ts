import { ConfigError } from "./config-error.js";

/**
 * Refuses a single quote in a variable's value: a file of variables has each value in single quotes, and systemd, Docker
 * Compose and shells do not agree on how to write one within them.
 *
 * @param variable Names the variable in the error.
 * @throws ConfigError without the value.
 */
export function requireNoQuote(value: string | undefined, variable: string): void {
  if (!value?.includes("'")) return;
  throw new ConfigError(
    `${variable} contains a single quote. In a URL, write %27 for it; have any other value issued anew, or put a value of ` +
      "`secrets` into a `file`.",
  );
}
