import {
  type Account,
  type Address,
  type Client,
  type Hash,
  isAddressEqual,
  parseEventLogs,
  type TransactionReceipt,
} from "viem";
import { getChainId, sendTransaction, waitForTransactionReceipt } from "viem/actions";
import { datasetAbi } from "../abi/dataset.js";
import type { UpdateTransaction } from "./request-update.js";

/** The transaction and its sender. */
export interface SendUpdateParameters {
  /** The result of `requestUpdate` with `broadcast: false`. Its round expires after a few minutes. */
  readonly transaction: UpdateTransaction;
  /** The account that pays the gas. The wallet client's account by default. */
  readonly account?: Account | Address;
  /** Called with the hash once the wallet has sent the transaction, before it is mined. */
  readonly onSent?: (hash: Hash) => void;
  /** The maximum time to wait for the receipt, in milliseconds: 180,000 by default. */
  readonly timeoutMs?: number;
}

/** A mined transaction. If it was replaced in the wallet, the receipt is that of the replacement. */
export interface MinedUpdate {
  readonly hash: Hash;
  /** Its `status` is `reverted` if the dataset rejected the update, most likely because the round was too old. */
  readonly receipt: TransactionReceipt;
  /**
   * True if the transaction stored its round. If it is false although the transaction succeeded, another relayer was
   * faster: the data point has the same round or a newer one.
   */
  readonly isStored: boolean;
}

const DEFAULT_TIMEOUT_MS = 180_000;

/** The wallet is on a different chain than the dataset. */
export class WrongChainError extends Error {
  override readonly name = "WrongChainError";

  constructor(
    readonly chainId: number,
    readonly expected: number,
  ) {
    super(
      `The wallet is on chain ${chainId}, but the update is for chain ${expected}. Switch first: ` +
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

/**
 * Sends an update's transaction from a wallet and waits until it is mined.
 *
 * @param walletClient Any viem wallet client, for a browser wallet or with a local account.
 * @throws `NoAccountError` and `WrongChainError` before anything is sent; viem's errors if the user or the RPC rejects
 * the transaction; `WaitForTransactionReceiptTimeoutError`.
 */
export async function sendUpdate(walletClient: Client, parameters: SendUpdateParameters): Promise<MinedUpdate> {
  const mined = await sendAndWait(walletClient, parameters);
  const events = parseEventLogs({ abi: datasetAbi, eventName: "Updated", logs: mined.receipt.logs });
  return { ...mined, isStored: events.some(({ address }) => isAddressEqual(address, parameters.transaction.to)) };
}

/** A transaction, whose gas the wallet estimates if it has no limit, and its sender. */
interface SendAndWaitParameters extends Omit<SendUpdateParameters, "transaction"> {
  readonly transaction: Omit<UpdateTransaction, "gas"> & { readonly gas?: bigint };
}

/** Does what `sendUpdate` does with any transaction, and throws what it throws. */
export async function sendAndWait(
  walletClient: Client,
  { transaction, account = walletClient.account, onSent, timeoutMs = DEFAULT_TIMEOUT_MS }: SendAndWaitParameters,
): Promise<Pick<MinedUpdate, "hash" | "receipt">> {
  if (!account) throw new NoAccountError();
  const chainId = await getChainId(walletClient);
  if (chainId !== transaction.chainId) throw new WrongChainError(chainId, transaction.chainId);
  const { to, data, value, gas } = transaction;
  const hash = await sendTransaction(walletClient, { account, chain: null, to, data, value, gas });
  onSent?.(hash);
  return { hash, receipt: await waitForTransactionReceipt(walletClient, { hash, timeout: timeoutMs }) };
}
