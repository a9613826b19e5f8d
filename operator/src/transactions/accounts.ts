import { ConfigError } from "@dataset-oracle/service/config/config-error";
import type { LoadedAccounts } from "@dataset-oracle/service/keys/account-source";
import { type AccountOwner, findAccounts } from "@dataset-oracle/service/keys/find-accounts";
import type { Logger } from "pino";

export const OPERATOR: AccountOwner = { name: "OPERATOR", signs: "transactions" };

/** The accounts that send transactions, with warnings about how their keys are kept; by chain id. */
export type SenderAccounts = ReadonlyMap<number, LoadedAccounts>;

/**
 * Loads the sender accounts of each network from the environment: those whose variables name its chain id, else the
 * common ones, else none. A network without accounts is served without broadcasting.
 *
 * @param closing Ends what is asked of signers outside the process.
 * @throws ConfigError. It never contains a key.
 */
export async function loadSenderAccounts(
  env: NodeJS.ProcessEnv,
  chainIds: readonly number[],
  closing: AbortSignal,
): Promise<SenderAccounts> {
  const common = await findAccounts(env, OPERATOR, undefined, closing);
  const senders = new Map<number, LoadedAccounts>();
  for (const chainId of chainIds) {
    const loaded = (await findAccounts(env, OPERATOR, chainId, closing)) ?? common;
    if (loaded !== null) senders.set(chainId, loaded);
  }
  return senders;
}

/**
 * Asks the signers outside this process whether they have the accounts. One that does not answer is asked again before
 * it signs.
 *
 * @throws ConfigError when a signer does not have an account.
 */
export async function checkSigners(senders: SenderAccounts, logger: Logger): Promise<void> {
  const checks = [...new Set(senders.values())].map(async ({ accounts, check }) => {
    try {
      await check?.();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      const addresses = accounts.map(({ address }) => address);
      logger.error({ senders: addresses, reason: String(error) }, "the signer cannot be asked for its accounts");
    }
  });
  await Promise.all(checks);
}
