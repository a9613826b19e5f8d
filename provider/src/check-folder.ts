import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { ConfigError } from "@dataset-oracle/service/config/config-error";

/**
 * Checks that files could be stored in a folder, without creating it.
 *
 * @param setting The setting that names the folder, for the error.
 * @throws ConfigError
 */
export function checkFolder(setting: string, folder: string): void {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    // The separator at the end makes this fail for a file.
    accessSync(join(existing, sep), constants.W_OK);
  } catch (error) {
    throw unusableFolder(setting, folder, error);
  }
}

export const unusableFolder = (setting: string, folder: string, error: unknown) =>
  new ConfigError(
    `${setting}: ${folder} cannot be used: ${(error as NodeJS.ErrnoException).code}. Check that it is a folder that ` +
      "this process can create and write to.",
  );
