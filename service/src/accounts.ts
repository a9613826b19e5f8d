import type { LocalAccount } from "viem";
import { ConfigError } from "./config.js";
import { keystores } from "./keystore-source.js";
import { keysInEnvironment, keysInFile } from "./private-key.js";

/** Signing accounts, in the order in which they are configured, and what their owner should know of how they are kept. */
export interface LoadedAccounts {
  readonly accounts: readonly LocalAccount[];
  readonly warnings: readonly string[];
}

/**
 * A place that accounts come from. Whatever signs as viem's `LocalAccount` does can be one: a key-management service
 * needs no more than one of these, beside those of `sourcesFor`.
 */
export interface AccountSource {
  /** The variables of the environment that configure it, the most telling first. */
  readonly variables: readonly string[];
  /** Those that hold a secret: they are removed, so that no child process or crash report gets it. */
  readonly secrets: readonly string[];
  /**
   * @throws ConfigError that holds neither a secret nor what the variables say: either may be the key, set by mistake.
   */
  load(env: NodeJS.ProcessEnv): Promise<LoadedAccounts>;
}

/** @param suffix Is between a variable's name and what it says of it: `_42` makes `OPERATOR_PRIVATE_KEY_42_FILE`. */
function sourcesFor(owner: string, suffix: string): readonly AccountSource[] {
  const key = `${owner}_PRIVATE_KEY${suffix}`;
  return [keysInFile(`${key}_FILE`), keysInEnvironment(key), keystores(`${owner}_KEYSTORE${suffix}`)];
}

/**
 * The accounts that the environment names: private keys in `<owner>_PRIVATE_KEY` or the file of
 * `<owner>_PRIVATE_KEY_FILE`, or the encrypted keystores at `<owner>_KEYSTORE`. For one network only, its chain id
 * stands behind `KEY` and `KEYSTORE`.
 *
 * @returns Null where nothing is named.
 * @throws ConfigError that holds no secret.
 */
export async function findAccounts(
  env: NodeJS.ProcessEnv,
  owner: string,
  chainId?: number,
): Promise<LoadedAccounts | null> {
  const sources = sourcesFor(owner, chainId === undefined ? "" : `_${chainId}`);
  const given = { ...env };
  for (const name of sources.flatMap(({ secrets }) => secrets)) delete env[name];
  const [source, other] = sources.filter(({ variables }) => variables.some((name) => given[name] !== undefined));
  if (source === undefined) return null;
  if (other !== undefined) {
    const [one, two] = [source, other].map(({ variables }) => variables.find((name) => given[name] !== undefined));
    throw new ConfigError(`Both ${one} and ${two} are set. Keep one.`);
  }
  const loaded = await source.load(given);
  if (new Set(loaded.accounts.map(({ address }) => address)).size < loaded.accounts.length) {
    throw new ConfigError(`${source.variables[0]} holds the same private key twice. Keep one.`);
  }
  return loaded;
}

/**
 * The one account that the environment names, as `findAccounts` finds it.
 *
 * @throws ConfigError that holds no secret.
 */
export async function loadAccount(env: NodeJS.ProcessEnv, owner: string) {
  const found = await findAccounts(env, owner);
  if (found === null) {
    throw new ConfigError(
      `Set ${owner}_PRIVATE_KEY_FILE to the path of a file that holds a private key, or ${owner}_KEYSTORE to that of ` +
        "an encrypted keystore.",
    );
  }
  const [account, ...others] = found.accounts;
  if (account === undefined || others.length > 0) {
    throw new ConfigError(
      `${owner}_PRIVATE_KEY takes one private key, and there are ${found.accounts.length}. Keep one.`,
    );
  }
  return { account, warnings: found.warnings };
}
