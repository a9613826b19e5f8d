import { mnemonicToAccount, privateKeyToAddress } from "viem/accounts";

/** The mnemonic of every development chain. Its keys are public, so never use them anywhere else. */
const MNEMONIC = "test test test test test test test test test test test junk";

/** The parent of the keys. Hashing the mnemonic for each would take most of the time of a short program. */
const ACCOUNTS = mnemonicToAccount(MNEMONIC, { path: "m/44'/60'/0'/0" }).getHdKey();

/** An account of the devnet and its key. */
export interface Account {
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
}

/**
 * The chain's first account: it deploys and owns the datasets, and publishes the example specs. The ten default
 * accounts are unlocked.
 */
export const OWNER = deriveAccount(0);

/** The accounts that send the update transactions: each operator has one of its own. */
export const SUBMITTERS: readonly [Account, ...Account[]] = [
  deriveAccount(1),
  deriveAccount(2),
  deriveAccount(3),
  deriveAccount(4),
];

/** The providers only sign, so they need no funded default accounts. The order is that of script/config/42.json. */
export const PROVIDERS: readonly Account[] = [
  deriveAccount(13),
  deriveAccount(11),
  deriveAccount(10),
  deriveAccount(12),
];

/** The last default account, for the printed commands and for wallets. The devnet itself never uses it. */
export const CALLER = deriveAccount(9);

/** Returns the account at an index of the mnemonic. The first ten have Ether. */
export function deriveAccount(addressIndex: number): Account {
  const key = ACCOUNTS.deriveChild(addressIndex).privateKey;
  if (!key) throw new Error(`The mnemonic has no private key at index ${addressIndex}.`);
  const privateKey = `0x${Buffer.from(key).toString("hex")}` as const;
  return { address: privateKeyToAddress(privateKey), privateKey };
}
