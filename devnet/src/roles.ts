import { mnemonicToAccount } from "viem/accounts";

/** The mnemonic of every development chain. Its keys are public: use them nowhere else. */
const MNEMONIC = "test test test test test test test test test test test junk";

/** A party of the devnet, with its own key. */
export interface Role {
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
}

/** The chain's first account: it deploys and owns the datasets. The ten default accounts are unlocked. */
export const OWNER = role(0);

/** The chain's second account: it sends the update transactions. */
export const OPERATOR = role(1);

/** They publish the example specs, one each: at the same time, one account's transactions take each other's nonces. */
export const DEVELOPERS: readonly Role[] = [OWNER, role(2), role(3), role(4)];

/** Accounts past the ten default ones: the providers sign, and never send. The order of script/config/42.json. */
export const PROVIDERS: readonly Role[] = [role(13), role(11), role(10), role(12)];

/** The last default account, for the commands that the devnet prints. The devnet itself never uses it. */
export const CALLER = role(9);

function role(addressIndex: number): Role {
  const account = mnemonicToAccount(MNEMONIC, { addressIndex });
  const privateKey = account.getHdKey().privateKey;
  if (!privateKey) throw new Error("A mnemonic always gives a private key.");
  return { address: account.address, privateKey: `0x${Buffer.from(privateKey).toString("hex")}` };
}
