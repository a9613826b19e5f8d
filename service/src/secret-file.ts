import { readFileSync, statSync } from "node:fs";
import { ConfigError } from "./config.js";

/**
 * Reads a file that only its owner should read.
 *
 * @param variable The variable of the environment that names it.
 * @throws ConfigError that does not hold the path: it may be the secret, set by mistake.
 */
export function readSecretFile(path: string, variable: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (/^\s*(?:0x)?[0-9a-f]{60,68}\s*$/i.test(path)) {
      throw new ConfigError(`${variable} looks like a key. Set it to the path of a file that holds the key.`);
    }
    throw new ConfigError(`The file that ${variable} names cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

/** What the owner of a file with a secret should know of its mode. */
export function permissionWarnings(path: string, variable: string): string[] {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [`The file that ${variable} names can be read by others (mode ${mode.toString(8)}). Run chmod 600 on it.`];
}
