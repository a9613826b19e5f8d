import { ConfigError } from "../config/config-error.js";
import type { AccountSource, LoadedAccounts } from "./account-source.js";
import { keystores } from "./keystore-source.js";
import { keysInEnvironment, keysInFile } from "./private-key-source.js";

/** @param suffix Follows the main name: `_42` makes `OPERATOR_PRIVATE_KEY_42_FILE`. */
function sourcesFor(owner: string, suffix: string): readonly AccountSource[] {
  const key = `${owner}_PRIVATE_KEY${suffix}`;
  return [keysInFile(`${key}_FILE`), keysInEnvironment(key), keystores(`${owner}_KEYSTORE${suffix}`)];
}

/**
 * Loads the accounts that the environment names: private keys in `<owner>_PRIVATE_KEY` or in the file at
 * `<owner>_PRIVATE_KEY_FILE`, or encrypted keystores at `<owner>_KEYSTORE`. With a chain id, it follows `KEY` and
 * `KEYSTORE` in the names.
 *
 * Removes the variables that hold a secret itself from `env`, so that nothing that reads it later can reveal them.
 *
 * @param remoteSigner Makes a further source, for an owner who signs only transactions.
 * @param closing Ends what is asked of a remote signer.
 * @returns Null when no variable is set.
 * @throws ConfigError; its message contains no secret.
 */
export async function findAccounts(
  env: NodeJS.ProcessEnv,
  owner: string,
  chainId?: number,
  remoteSigner?: (owner: string, suffix: string) => AccountSource,
  closing: AbortSignal = new AbortController().signal,
): Promise<LoadedAccounts | null> {
  const suffix = chainId === undefined ? "" : `_${chainId}`;
  const sources = [...sourcesFor(owner, suffix), ...(remoteSigner === undefined ? [] : [remoteSigner(owner, suffix)])];
  const given = { ...env };
  for (const name of sources.flatMap(({ secrets }) => secrets)) delete env[name];
  const [source, other] = sources.filter(({ variables }) => variables.some((name) => given[name] !== undefined));
  if (source === undefined) return null;
  if (other !== undefined) {
    const [one, two] = [source, other].map(({ variables }) => variables.find((name) => given[name] !== undefined));
    throw new ConfigError(`Both ${one} and ${two} are set. Keep one.`);
  }
  const loaded = await source.load(given, closing);
  if (new Set(loaded.accounts.map(({ address }) => address)).size < loaded.accounts.length) {
    throw new ConfigError(`${source.variables[0]} names the same account twice. Keep one.`);
  }
  return loaded;
}

/**
 * Loads exactly one account, as `findAccounts` does.
 *
 * @param alternative What else the user can set, for the error when no key is configured.
 * @throws ConfigError; its message contains no secret.
 */
export async function loadAccount(env: NodeJS.ProcessEnv, owner: string, alternative?: string) {
  const found = await findAccounts(env, owner);
  if (found === null) {
    throw new ConfigError(
      `No private key is configured. Set ${owner}_PRIVATE_KEY_FILE to the path of a file that holds a private key, or ` +
        `${owner}_KEYSTORE to the path of an encrypted keystore${alternative === undefined ? "" : `, or ${alternative}`}.`,
    );
  }
  const [account, ...others] = found.accounts;
  if (account === undefined || others.length > 0) {
    throw new ConfigError(
      `${found.accounts.length} private keys are configured, in ${owner}_PRIVATE_KEY, ${owner}_PRIVATE_KEY_FILE or ` +
        `${owner}_KEYSTORE. Keep one.`,
    );
  }
  return { account, warnings: found.warnings };
}
