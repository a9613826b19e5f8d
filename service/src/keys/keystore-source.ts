import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { LocalAccount } from "viem";
import { ConfigError } from "../config/config-error.js";
import { fileOf, permissionWarnings, readSecretFile } from "../config/secret-file.js";
import type { AccountSource } from "./account-source.js";
import { openKeystore } from "./keystore.js";

/**
 * Loads encrypted keystores from the file or folder that `<owner>_KEYSTORE<suffix>` names. A folder's files are read in
 * the order of their names. They share one password, from `..._PASSWORD_FILE`, whose trailing newline is
 * ignored, or `..._PASSWORD`.
 */
export function keystores(owner: string, suffix: string): AccountSource {
  const variable = `${owner}_KEYSTORE${suffix}`;
  const password = `${variable}_PASSWORD`;
  return {
    variables: [variable, `${password}_FILE`, password],
    secrets: [password],
    value: "the path of an encrypted keystore",
    help: "The others are its password: the path of a file with it, or, for development, the password itself. A folder's keystores share one.",
    async load(env) {
      const path = env[variable];
      if (path === undefined)
        throw new ConfigError(`A keystore password is set without a keystore. Set ${variable} to the keystore's path.`);
      const opened = readPassword(env, password);
      const files = filesAt(path, variable);
      const describe = (file: string) =>
        file === path ? fileOf(variable) : `The file ${basename(file)} in the folder that ${variable} names`;
      return {
        accounts: files.map((file) =>
          open(readSecretFile(file, variable, describe(file)), opened.password, describe(file)),
        ),
        warnings: [...opened.warnings, ...files.flatMap((file) => permissionWarnings(file, describe(file)))],
      };
    },
  };
}

function open(keystore: string, password: string, file: string): LocalAccount {
  const account = openKeystore(keystore, password);
  if (!account.ok) throw new ConfigError(`${file} ${account.error}.`);
  return account.value;
}

function readPassword(env: NodeJS.ProcessEnv, variable: string) {
  const file = env[`${variable}_FILE`];
  const given = env[variable];
  if (given !== undefined && file !== undefined)
    throw new ConfigError(`Both ${variable} and ${variable}_FILE are set. Keep one.`);
  if (given === undefined && file === undefined) {
    throw new ConfigError(`The keystore has no password. Set ${variable}_FILE to the path of a file that holds it.`);
  }
  const password = file === undefined ? given : readSecretFile(file, `${variable}_FILE`).replace(/(?:\r\n|\n|\r)$/, "");
  if (!password)
    throw new ConfigError(`${variable}${file === undefined ? "" : "_FILE"} is empty. Put the password into it.`);
  return { password, warnings: file === undefined ? [] : permissionWarnings(file, fileOf(`${variable}_FILE`)) };
}

/** Returns the path itself, or the files of the folder at the path. */
function filesAt(path: string, variable: string): string[] {
  const names = namesIn(path);
  if (names === null) return [path];
  if (names.length === 0) {
    throw new ConfigError(`The folder that ${variable} names is empty. Put the keystores into it.`);
  }
  return names.toSorted().map((name) => join(path, name));
}

function namesIn(folder: string): string[] | null {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith("."));
  } catch {
    // The path is a file, or cannot be read, which opening it will report.
    return null;
  }
}
