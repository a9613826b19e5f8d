import type { Hex, LocalAccount } from "viem";

/** Signs a hash. An account whose key is in memory can, which its type leaves open. */
export function signHash(account: LocalAccount, hash: Hex): Promise<Hex> {
  if (account.sign === undefined) throw new Error(`${account.address} cannot sign a hash.`);
  return account.sign({ hash });
}
