import type { Account, Address, Client, Hash, TransactionReceipt } from "viem";
import { getChainId, sendTransaction, waitForTransactionReceipt } from "viem/actions";
import type { UpdateTransaction } from "./request-update.js";

/** What to send, and from where. */
export interface SendUpdateParameters {
  /** Of a `requestUpdate` with `broadcast: false`. Its round is of use for a few minutes at most. */
  readonly transaction: UpdateTransaction;
  /** Who pays the gas. The wallet client's own account by default. */
  readonly account?: Account | Address;
  /** How long to wait for the receipt, in milliseconds. */
  readonly timeoutMs?: number;
}

/** A transaction that is mined. */
export interface MinedUpdate {
  readonly hash: Hash;
  /**
   * Its `status` is `reverted` when the dataset refused the update. Mostly another carrier was faster, and the data point
   * is fresh: query it. Else the round was too old.
   */
  readonly receipt: TransactionReceipt;
}

const DEFAULT_TIMEOUT_MS = 180_000;

/** The wallet is on another chain than the dataset. */
export class WrongChainError extends Error {
  override readonly name = "WrongChainError";

  constructor(
    readonly chainId: number,
    readonly expected: number,
  ) {
    super(
      `The wallet is on chain ${chainId}, and the update is for chain ${expected}. Switch first: walletClient.switchChain({ id: ${expected} }).`,
    );
  }
}

/** There is nobody to send from. */
export class NoAccountError extends Error {
  override readonly name = "NoAccountError";

  constructor() {
    super("The wallet client has no account. Create it with one, or pass `account`.");
  }
}

/**
 * Sends an update's transaction from a wallet, and waits until it is mined.
 *
 * @param walletClient Any viem wallet client: of a browser wallet, or with a local account.
 * @throws `NoAccountError` and `WrongChainError` before anything is sent, and viem's errors: when the user or the RPC
 * refuses the transaction, and `WaitForTransactionReceiptTimeoutError`.
 */
export async function sendUpdate(
  walletClient: Client,
  { transaction, account = walletClient.account, timeoutMs = DEFAULT_TIMEOUT_MS }: SendUpdateParameters,
): Promise<MinedUpdate> {
  if (!account) throw new NoAccountError();
  const chainId = await getChainId(walletClient);
  if (chainId !== transaction.chainId) throw new WrongChainError(chainId, transaction.chainId);
  const { to, data, value, gas } = transaction;
  const hash = await sendTransaction(walletClient, { account, chain: null, to, data, value, gas });
  const receipt = await waitForTransactionReceipt(walletClient, { hash, timeout: timeoutMs });
  return { hash, receipt };
}
