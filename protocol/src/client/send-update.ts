import { type Client, isAddressEqual, keccak256, parseEventLogs, type TransactionReceipt } from "viem";
import { datasetAbi } from "../abi/dataset.js";
import { decodeUpdateCall } from "../update-call.js";
import { type MinedTransaction, type SendOptions, sendAndWait } from "./send-and-wait.js";
import type { UpdateTransaction } from "./update-answer.js";

/** The transaction and its sender. */
export interface SendUpdateParameters extends SendOptions {
  /** The result of `requestUpdate` with `broadcast: false`. Its round expires after a few minutes. */
  readonly transaction: UpdateTransaction;
}

/** The receipt's `status` is `reverted` if the dataset rejected the update, most likely because the round was too old. */
export interface MinedUpdate extends MinedTransaction {
  /**
   * True if the transaction stored its round. If it is false although the transaction succeeded, another relayer was
   * faster: the data point has the same round or a newer one. Or it was cancelled in the wallet, and another was mined.
   */
  readonly isStored: boolean;
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
  return { ...mined, isStored: hasStored(mined.receipt, parameters.transaction) };
}

/**
 * Returns true if a mined transaction stored the round of an update. A smart account's is mined in a bundle with those of
 * others, which may update other keys.
 */
export function hasStored({ logs }: TransactionReceipt, { to, data }: UpdateTransaction): boolean {
  const update = decodeUpdateCall(data);
  const args = update?.kind === "update" ? { keyHash: keccak256(update.key), timestamp: update.round } : {};
  const events = parseEventLogs({ abi: datasetAbi, eventName: "Updated", logs, args });
  return events.some(({ address }) => isAddressEqual(address, to));
}
