import { findAccounts, type LoadedAccounts } from "@dataset-oracle/service/accounts";

/**
 * The accounts that send transactions on each network: those of the variables with its chain id, else the common ones,
 * else none; then that network is served without broadcasting.
 *
 * @throws ConfigError that never holds a key.
 */
export async function loadSenderKeys(
  env: NodeJS.ProcessEnv,
  chainIds: readonly number[],
): Promise<ReadonlyMap<number, LoadedAccounts>> {
  const common = await findAccounts(env, "OPERATOR");
  const signers = new Map<number, LoadedAccounts>();
  for (const chainId of chainIds) {
    const signer = (await findAccounts(env, "OPERATOR", chainId)) ?? common;
    if (signer !== null) signers.set(chainId, signer);
  }
  return signers;
}
