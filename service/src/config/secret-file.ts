import { readFileSync, statSync } from "node:fs";
import { ConfigError, unreadable } from "./config-error.js";

/** Describes a file for a message, without its path, which may be the secret, set by mistake. */
export const fileOf = (variable: string) => `The file that ${variable} names`;

/**
 * Reads a file with a secret.
 *
 * @param setting The setting or environment variable that names the file, or its folder.
 * @param file Describes the file for a message.
 * @throws ConfigError without the path.
 */
export function readSecretFile(path: string, setting: string, file = fileOf(setting)): string {
  try {
    return decode(readFileSync(path));
  } catch (error) {
    if (/^\s*(?:0x)?[0-9a-f]{60,68}\s*$/i.test(path)) {
      throw new ConfigError(`${setting} looks like a key. Set it to the path of a file that holds the key.`);
    }
    throw unreadable(
      `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}. Check the path and its permissions.`,
      error,
    );
  }
}

/** Decodes a text in UTF-8 or, after its byte order mark, in UTF-16, as editors on Windows write it. */
function decode(bytes: Uint8Array): string {
  const mark = `${bytes[0]} ${bytes[1]}`;
  const encoding = mark === "255 254" ? "utf-16le" : mark === "254 255" ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

/**
 * Returns a warning when others can read a file with a secret.
 *
 * @param file Describes the file for the warning.
 */
export function permissionWarnings(path: string, file: string): string[] {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [`${file} can be read by others (mode ${mode.toString(8)}). Run chmod 600 on it.`];
}
