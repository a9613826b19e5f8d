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
