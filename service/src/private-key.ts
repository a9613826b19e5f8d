import { readFileSync, statSync } from "node:fs";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { ConfigError } from "./config.js";

/** A signing account, and what its owner should know of how its key is kept. */
export interface LoadedAccount {
  readonly account: PrivateKeyAccount;
  readonly warnings: readonly string[];
}

/**
 * Reads a private key from the environment: the key itself in `<name>`, or the path of a file with it in `<name>_FILE`.
 * The key is removed from the environment, so that no child process or crash report gets it.
 *
 * @throws ConfigError that holds neither the key nor what the variables say: either may be the key, set by mistake.
 */
export function loadAccount(env: NodeJS.ProcessEnv, name: string): LoadedAccount {
  const file = env[`${name}_FILE`];
  const inEnvironment = env[name];
  delete env[name];
  if (file !== undefined && inEnvironment !== undefined) {
    throw new ConfigError(`Both ${name} and ${name}_FILE are set. Keep one.`);
  }
  if (inEnvironment !== undefined) return { account: toAccount(inEnvironment, name), warnings: [] };
  if (file === undefined) {
    throw new ConfigError(`Set ${name}_FILE to the path of a file that holds a private key, or ${name} to the key.`);
  }
  const account = toAccount(readKeyFile(file, `${name}_FILE`), `The file that ${name}_FILE names`);
  return { account, warnings: permissionWarnings(file, `${name}_FILE`) };
}

function toAccount(text: string, source: string): PrivateKeyAccount {
  const key = text.trim();
  const problem = `${source} does not hold a private key: "0x" and 64 hex digits, above 0 and below the curve's order.`;
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) throw new ConfigError(problem);
  try {
    return privateKeyToAccount(key as `0x${string}`);
  } catch {
    // The library's own error could hold the key.
    throw new ConfigError(problem);
  }
}

function readKeyFile(path: string, variable: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (/^\s*(?:0x)?[0-9a-f]{60,68}\s*$/i.test(path)) {
      throw new ConfigError(`${variable} looks like a key. Set it to the path of a file that holds the key.`);
    }
    throw new ConfigError(`The file that ${variable} names cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

function permissionWarnings(path: string, variable: string): string[] {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [`The file that ${variable} names can be read by others (mode ${mode.toString(8)}). Run chmod 600 on it.`];
}
