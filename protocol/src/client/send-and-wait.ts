import {
  type Account,
  type Address,
  type Chain,
  type Client,
  defineChain,
  type Hash,
  type Hex,
  type TransactionReceipt,
} from "viem";
import { getChainId, sendTransaction, waitForTransactionReceipt } from "viem/actions";

/** Who sends a transaction, and how long to wait for it. */
export interface SendOptions {
  /** The account that pays the gas. The wallet client's account by default. */
  readonly account?: Account | Address;
  /** Called with the hash once the wallet has sent the transaction, before it is mined. */
  readonly onSent?: (hash: Hash) => void;
  /** The maximum time to wait for the receipt, in milliseconds: 180,000 by default. */
  readonly timeoutMs?: number;
}

interface SendAndWaitParameters extends SendOptions {
  readonly transaction: {
    readonly chainId: number;
    readonly to: Address;
    readonly data: Hex;
    readonly value: bigint;
    /** Estimated by the wallet by default. */
    readonly gas?: bigint;
  };
}

/** A mined transaction. If it was replaced in the wallet, the receipt is that of the replacement. */
export interface MinedTransaction {
  readonly hash: Hash;
  readonly receipt: TransactionReceipt;
}

const DEFAULT_TIMEOUT_MS = 180_000;

/** The wallet is on a different chain than the transaction. */
export class WrongChainError extends Error {
  override readonly name = "WrongChainError";

  constructor(
    readonly chainId: number,
    readonly expected: number,
  ) {
    super(
      `The wallet is on chain ${chainId}, but the transaction is for chain ${expected}. Switch first: ` +
        `walletClient.switchChain({ id: ${expected} }).`,
    );
  }
}

/** There is no account to send from. */
export class NoAccountError extends Error {
  override readonly name = "NoAccountError";

  constructor() {
    super("The wallet client has no account. Create it with one, or pass `account`.");
  }
}

/** @throws `WrongChainError` when the wallet is on a different chain. */
export async function requireChain(walletClient: Client, expected: number): Promise<void> {
  const chainId = await getChainId(walletClient);
  if (chainId !== expected) throw new WrongChainError(chainId, expected);
}

/**
 * Returns a chain by its id alone. With it, viem looks at the wallet's chain once more right before it sends, and a local
 * account signs for that chain only.
 */
export const chainOf = (id: number): Chain =>
  defineChain({
    id,
    name: `chain ${id}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [] } },
  });

/**
 * Sends a transaction from a wallet and waits until it is mined.
 *
 * @throws `NoAccountError` and `WrongChainError` before anything is sent; viem's errors if the user or the RPC rejects
 * the transaction; `WaitForTransactionReceiptTimeoutError`.
 */
export async function sendAndWait(
  walletClient: Client,
  { transaction, account = walletClient.account, onSent, timeoutMs = DEFAULT_TIMEOUT_MS }: SendAndWaitParameters,
): Promise<MinedTransaction> {
  if (!account) throw new NoAccountError();
  const { chainId, to, data, value, gas } = transaction;
  await requireChain(walletClient, chainId);
  const hash = await sendTransaction(walletClient, { account, chain: chainOf(chainId), to, data, value, gas });
  onSent?.(hash);
  return { hash, receipt: await waitForTransactionReceipt(walletClient, { hash, timeout: timeoutMs }) };
}
