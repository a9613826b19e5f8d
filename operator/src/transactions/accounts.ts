import type { LoadedAccounts } from "@dataset-oracle/service/keys/account-source";
import { findAccounts } from "@dataset-oracle/service/keys/find-accounts";

/** The accounts that send transactions, with warnings about how their keys are kept; by chain id. */
export type SenderAccounts = ReadonlyMap<number, LoadedAccounts>;

/**
 * Loads the sender accounts of each network from the environment: those whose variables name its chain id, else the
 * common ones, else none. A network without accounts is served without broadcasting.
 *
 * @throws ConfigError. It never contains a key.
 */
export async function loadSenderAccounts(env: NodeJS.ProcessEnv, chainIds: readonly number[]): Promise<SenderAccounts> {
  const common = await findAccounts(env, "OPERATOR");
  const senders = new Map<number, LoadedAccounts>();
  for (const chainId of chainIds) {
    const loaded = (await findAccounts(env, "OPERATOR", chainId)) ?? common;
    if (loaded !== null) senders.set(chainId, loaded);
  }
  return senders;
}

/**
 * Returns a warning about each environment variable that seems to be meant for a key but is not read, if a network has no
 * key: its name is misspelt, or has the chain id of a network that is not configured.
 */
export function listUnreadKeys(env: NodeJS.ProcessEnv, chainIds: readonly number[], senders: SenderAccounts): string[] {
  if (chainIds.every((chainId) => senders.has(chainId))) return [];
  const ofNetwork = `(?:_(?:${chainIds.join("|")}))?`;
  const read = new RegExp(
    `^OPERATOR_(?:PRIVATE_KEY${ofNetwork}(?:_FILE)?|KEYSTORE${ofNetwork}(?:_PASSWORD(?:_FILE)?)?)$`,
  );
  return Object.keys(env)
    .filter((name) => /^OPERATOR_.*(PRIVATE_?KEY|KEY_?STORE|KEY_?FILE)/i.test(name) && !read.test(name))
    .map(
      (name) =>
        `${name} is set, but the operator reads no key from a variable of that name. If it should hold a key, correct ` +
        "the name.",
    );
}
