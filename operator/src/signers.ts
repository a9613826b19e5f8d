import { type LoadedAccounts, loadAccounts } from "@dataset-oracle/service/private-key";

const NAME = "OPERATOR_PRIVATE_KEY";

/**
 * The accounts that send transactions on each network: `OPERATOR_PRIVATE_KEY_<chainId>[_FILE]`, else
 * `OPERATOR_PRIVATE_KEY[_FILE]`, else none; then that network is served without broadcasting.
 *
 * @throws ConfigError that never holds a key.
 */
export function loadSigners(env: NodeJS.ProcessEnv, chainIds: readonly number[]): ReadonlyMap<number, LoadedAccounts> {
  const common = loadIfSet(env, NAME);
  const signers = new Map<number, LoadedAccounts>();
  for (const chainId of chainIds) {
    const signer = loadIfSet(env, `${NAME}_${chainId}`) ?? common;
    if (signer !== null) signers.set(chainId, signer);
  }
  return signers;
}

function loadIfSet(env: NodeJS.ProcessEnv, name: string): LoadedAccounts | null {
  const isSet = env[name] !== undefined || env[`${name}_FILE`] !== undefined;
  return isSet ? loadAccounts(env, name) : null;
}
