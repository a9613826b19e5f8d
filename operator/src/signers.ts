import { type LoadedAccount, loadAccount } from "@dataset-oracle/service/private-key";

const NAME = "OPERATOR_PRIVATE_KEY";

/**
 * The account that sends transactions on each network: `OPERATOR_PRIVATE_KEY_<chainId>[_FILE]`, else
 * `OPERATOR_PRIVATE_KEY[_FILE]`, else none; then that network is served without broadcasting.
 *
 * @throws ConfigError that never holds a key.
 */
export function loadSigners(env: NodeJS.ProcessEnv, chainIds: readonly number[]): ReadonlyMap<number, LoadedAccount> {
  const common = loadIfSet(env, NAME);
  const signers = new Map<number, LoadedAccount>();
  for (const chainId of chainIds) {
    const signer = loadIfSet(env, `${NAME}_${chainId}`) ?? common;
    if (signer !== null) signers.set(chainId, signer);
  }
  return signers;
}

function loadIfSet(env: NodeJS.ProcessEnv, name: string): LoadedAccount | null {
  const isSet = env[name] !== undefined || env[`${name}_FILE`] !== undefined;
  return isSet ? loadAccount(env, name) : null;
}
