import { ConfigError } from "../config/config-error.js";
import type { AccountSource, LoadedAccounts } from "./account-source.js";
import { keystores } from "./keystore-source.js";
import { keysInEnvironment, keysInFile } from "./private-key-source.js";
import { remoteSigner } from "./remote-signer.js";

/**
 * All sources of accounts. Each is made for an owner (`OPERATOR`), whose name begins those of its variables, and a suffix
 * for one network (`_42`).
 */
const SOURCES: readonly ((owner: string, suffix: string) => AccountSource)[] = [
  keysInFile,
  keysInEnvironment,
  keystores,
  remoteSigner,
];

/** Whose accounts are found, and what they have to be able to sign. */
export interface AccountOwner {
  /** Begins the names of the variables, such as `OPERATOR`. */
  readonly name: string;
  readonly signs: "anything" | "transactions";
}

/** Lists what an owner can set, for all networks or for one. */
export const accountSourcesOf = ({ name, signs }: AccountOwner, chainId?: number): readonly AccountSource[] =>
  SOURCES.map((sourceOf) => sourceOf(name, chainId === undefined ? "" : `_${chainId}`)).filter(
    ({ signsOnlyTransactions = false }) => signs === "transactions" || !signsOnlyTransactions,
  );

/** Names the variables of which an owner has to set one: "A, B or C". */
export const namesOfAccounts = (owner: AccountOwner): string =>
  accountSourcesOf(owner)
    .map(({ variables }) => variables[0])
    .join(", ")
    .replace(/, (?=[^,]*$)/, " or ");

/** Describes all variables of an owner for `--help`: names, and below them, indented, what they are. */
export const helpOnAccounts = (owner: AccountOwner): string =>
  accountSourcesOf(owner)
    .map(({ variables, value, help }) => `  ${variables.join(", ")}\n${wrapped(`${value}. ${help}`)}`)
    .join("\n");

const wrapped = (text: string) =>
  text
    .trim()
    .replace(/(.{1,98})(?: |$)/g, (_, line) => `      ${line}\n`)
    .trimEnd();

/**
 * Loads the accounts that the environment names, by the variables of one source. The variables that hold a secret itself
 * are removed from `env`, so that nothing that reads it later can reveal them.
 *
 * @param closing Ends what is asked of a remote signer.
 * @returns Null when no variable is set.
 * @throws ConfigError; its message contains no secret.
 */
export async function findAccounts(
  env: NodeJS.ProcessEnv,
  owner: AccountOwner,
  chainId?: number,
  closing: AbortSignal = new AbortController().signal,
): Promise<LoadedAccounts | null> {
  const sources = accountSourcesOf(owner, chainId);
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
export async function loadAccount(env: NodeJS.ProcessEnv, owner: AccountOwner, alternative: readonly string[] = []) {
  const found = await findAccounts(env, owner);
  if (found === null) {
    const ways = accountSourcesOf(owner).map(({ variables, value }) => `${variables[0]} to ${value}`);
    throw new ConfigError(`No private key is configured. Set ${[...ways, ...alternative].join(", or ")}.`);
  }
  const [account, ...others] = found.accounts;
  if (account === undefined || others.length > 0) {
    throw new ConfigError(
      `${found.accounts.length} private keys are configured, in ${namesOfAccounts(owner)}. Keep one.`,
    );
  }
  return { account, warnings: found.warnings };
}
