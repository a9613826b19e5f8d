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
  const { accounts, warnings } = loadAccounts(env, name);
  const [account, ...others] = accounts;
  if (account === undefined || others.length > 0) {
    throw new ConfigError(`${name} and ${name}_FILE take one private key, and there are ${accounts.length}. Keep one.`);
  }
  return { account, warnings };
}

/** Several signing accounts, in the order in which their keys are written, without repetition. */
export interface LoadedAccounts {
  readonly accounts: readonly PrivateKeyAccount[];
  readonly warnings: readonly string[];
}

/**
 * Reads one private key or several, with white space between them, as `loadAccount` does.
 *
 * @throws ConfigError that holds neither a key nor what the variables say.
 */
export function loadAccounts(env: NodeJS.ProcessEnv, name: string): LoadedAccounts {
  const file = env[`${name}_FILE`];
  const inEnvironment = env[name];
  delete env[name];
  if (file !== undefined && inEnvironment !== undefined) {
    throw new ConfigError(`Both ${name} and ${name}_FILE are set. Keep one.`);
  }
  if (inEnvironment !== undefined) return { accounts: toAccounts(inEnvironment, name), warnings: [] };
  if (file === undefined) {
    throw new ConfigError(`Set ${name}_FILE to the path of a file that holds a private key, or ${name} to the key.`);
  }
  const accounts = toAccounts(readKeyFile(file, `${name}_FILE`), `The file that ${name}_FILE names`);
  return { accounts, warnings: permissionWarnings(file, `${name}_FILE`) };
}

function toAccounts(text: string, source: string): PrivateKeyAccount[] {
  const accounts = text
    .trim()
    .split(/\s+/)
    .map((key) => toAccount(key, source));
  if (new Set(accounts.map(({ address }) => address)).size < accounts.length) {
    throw new ConfigError(`${source} holds the same private key twice. Keep one.`);
  }
  return accounts;
}

function toAccount(key: string, source: string): PrivateKeyAccount {
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
