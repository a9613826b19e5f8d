import { readFileSync, statSync } from "node:fs";
import { ConfigError } from "../config/config-error.js";

/**
 * Reads a file with a secret.
 *
 * @param variable The environment variable that names the file.
 * @throws ConfigError without the path, which may be the secret, set by mistake.
 */
export function readSecretFile(path: string, variable: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (/^\s*(?:0x)?[0-9a-f]{60,68}\s*$/i.test(path)) {
      throw new ConfigError(`${variable} looks like a key. Set it to the path of a file that holds the key.`);
    }
    throw new ConfigError(
      `The file that ${variable} names cannot be read: ${(error as NodeJS.ErrnoException).code}. Check the path and ` +
        "its permissions.",
    );
  }
}

/** Returns a warning when others can read a file with a secret. */
export function permissionWarnings(path: string, variable: string): string[] {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [`The file that ${variable} names can be read by others (mode ${mode.toString(8)}). Run chmod 600 on it.`];
}
