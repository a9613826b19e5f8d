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
 * @throws ConfigError that never holds the key.
 */
export function loadAccount(env: NodeJS.ProcessEnv, name: string): LoadedAccount {
  const file = env[`${name}_FILE`];
  const inEnvironment = env[name];
  delete env[name];
  if (file !== undefined && inEnvironment !== undefined) {
    throw new ConfigError(`Both ${name} and ${name}_FILE are set. Keep one.`);
  }
  if (file !== undefined) return { account: toAccount(readKeyFile(file), file), warnings: permissionWarnings(file) };
  if (inEnvironment !== undefined) return { account: toAccount(inEnvironment, name), warnings: [] };
  throw new ConfigError(`Set ${name}_FILE to the path of a file that holds a private key, or ${name} to the key.`);
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

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

function permissionWarnings(path: string): string[] {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [`${path} can be read by others (mode ${mode.toString(8)}). Run: chmod 600 ${path}`];
}
