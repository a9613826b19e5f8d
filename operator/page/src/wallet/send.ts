import type { UpdateTransaction } from "@dataset-oracle/protocol";
import { ask, type Wallet, WalletError } from "./wallet";

/** The state of a transaction that a wallet sends. */
export type Sending =
  | { readonly step: "connecting" | "switching" | "confirming" }
  | { readonly step: "waiting"; readonly hash: string }
  | { readonly step: "mined"; readonly hash: string; readonly block: number }
  | { readonly step: "reverted"; readonly hash: string }
  | { readonly step: "unseen"; readonly hash: string };

const POLL_MS = 1_000;
const WAIT_MS = 180_000;

interface Receipt {
  readonly status: string;
  readonly blockNumber: string;
}

const toHex = (number: bigint | number) => `0x${number.toString(16)}`;

/**
 * Sends an update's transaction from a wallet: connects, switches to the right chain, sends, and waits until it is mined.
 *
 * @throws WalletError
 */
export async function sendFromWallet(
  wallet: Wallet,
  { chainId, to, data, value, gas }: UpdateTransaction,
  onStep: (sending: Sending) => void,
): Promise<void> {
  onStep({ step: "connecting" });
  const [from] = await ask<readonly string[]>(wallet, "eth_requestAccounts");
  if (from === undefined) throw new WalletError("failed", "the wallet has no account");
  await toChain(wallet, chainId, onStep);
  onStep({ step: "confirming" });
  const transaction = { from, to, data, value: toHex(value), gas: toHex(gas) };
  const hash = await ask<string>(wallet, "eth_sendTransaction", [transaction]);
  onStep({ step: "waiting", hash });
  onStep(await minedOf(wallet, hash));
}

async function toChain(wallet: Wallet, chainId: number, onStep: (sending: Sending) => void): Promise<void> {
  const isThere = async () => Number(await ask<string>(wallet, "eth_chainId")) === chainId;
  if (await isThere()) return;
  onStep({ step: "switching" });
  await ask(wallet, "wallet_switchEthereumChain", [{ chainId: toHex(chainId) }]);
  if (!(await isThere())) throw new WalletError("failed", "the wallet did not switch to the network");
}

async function minedOf(wallet: Wallet, hash: string): Promise<Sending> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
    const receipt = await ask<Receipt | null>(wallet, "eth_getTransactionReceipt", [hash]).catch(() => null);
    if (receipt?.status === "0x0") return { step: "reverted", hash };
    if (receipt) return { step: "mined", hash, block: Number(receipt.blockNumber) };
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return { step: "unseen", hash };
}
