import type { UnsentUpdate } from "@dataset-oracle/protocol";
import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { sendAndWait, WrongChainError } from "@dataset-oracle/protocol/client/send-and-wait";
import {
  type Address,
  BaseError,
  createClient,
  custom,
  type EIP1193Provider,
  type Hash,
  isAddressEqual,
  parseEventLogs,
  SwitchChainError,
  type TransactionReceipt,
  UserRejectedRequestError,
} from "viem";
import { requestAddresses, switchChain } from "viem/actions";

/** The state of a transaction that a wallet sends. */
export interface Sending {
  readonly step:
    | "connecting"
    | "switching"
    | "confirming"
    | "waiting"
    | "mined"
    | "overtaken"
    | "reverted"
    | "unseen"
    | "not_loaded"
    | Refusal;
  /** Once it has been sent. */
  readonly hash?: Hash;
  /** The block in which it was mined. */
  readonly block?: bigint;
  /** The message of a wallet that refuses. */
  readonly message?: string;
}

/** The reasons why a wallet does not send a transaction. */
type Refusal = "rejected" | "unknown_chain" | "failed";

const POLL_MS = 1_000;

/**
 * Sends an update from a wallet: connects, switches to the right chain, sends, and waits until it is mined. Never throws.
 */
export async function sendFromWallet(
  provider: EIP1193Provider,
  transaction: UnsentUpdate["transaction"],
  onStep: (sending: Sending) => void,
): Promise<void> {
  const client = createClient({ transport: custom(provider, { retryCount: 0 }), pollingInterval: POLL_MS });
  let hash: Hash | undefined;
  const onSent = (sent: Hash) => {
    hash = sent;
    onStep({ step: "waiting", hash });
  };
  try {
    const [account] = await requestAddresses(client);
    const send = () => {
      onStep({ step: "confirming" });
      return sendAndWait(client, { transaction, ...(account && { account }), onSent });
    };
    const { receipt } = await send().catch(async (error) => {
      if (!(error instanceof WrongChainError)) throw error;
      onStep({ step: "switching" });
      await switchChain(client, { id: transaction.chainId });
      return send();
    });
    // A wallet cancels a transaction by replacing it, and the receipt is that of the replacement.
    const isSame = receipt.to !== null && isAddressEqual(receipt.to, transaction.to);
    const mined = hasStored(receipt, transaction.to) ? "mined" : "overtaken";
    const step = receipt.status === "reverted" ? "reverted" : isSame ? mined : "unseen";
    onStep({ step, hash: receipt.transactionHash, block: receipt.blockNumber });
  } catch (error) {
    // A transaction that was sent may still be mined.
    onStep(hash ? { step: "unseen", hash } : refusalOf(error));
  }
}

/** Returns true if a transaction stored a value in a dataset. */
function hasStored({ logs }: TransactionReceipt, dataset: Address): boolean {
  const events = parseEventLogs({ abi: datasetAbi, eventName: "Updated", logs });
  return events.some(({ address }) => isAddressEqual(address, dataset));
}

function refusalOf(error: unknown): Sending {
  if (!(error instanceof BaseError)) return { step: "failed", message: String(error) };
  const has = (isCause: (cause: unknown) => boolean) => error.walk(isCause) !== null;
  const message = error.details || error.shortMessage;
  if (has((cause) => cause instanceof UserRejectedRequestError)) return { step: "rejected", message };
  if (has((cause) => cause instanceof SwitchChainError || wrapsUnknownChain(cause)))
    return { step: "unknown_chain", message };
  return { step: "failed", message };
}

/** Some wallets wrap the original error. */
function wrapsUnknownChain(cause: unknown): boolean {
  const { data } = (cause ?? {}) as { data?: { originalError?: { code?: unknown } } };
  return data?.originalError?.code === SwitchChainError.code;
}
