import { sendUpdate, type UpdateTransaction } from "@dataset-oracle/protocol";
import type { EIP1193Provider } from "viem";
import { type Sending, sendFromWallet } from "../wallet/send-from-wallet";

/** Sends an update's transaction from a wallet. Never throws. */
export const sendUpdateFromWallet = (
  provider: EIP1193Provider,
  transaction: UpdateTransaction,
  onStep: (sending: Sending) => void,
): Promise<void> =>
  sendFromWallet(provider, transaction, onStep, (client, options) => sendUpdate(client, { transaction, ...options }));
