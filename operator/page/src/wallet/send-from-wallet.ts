import type { UpdateTransaction } from "@dataset-oracle/protocol";
import { sendAndWait, WrongChainError } from "@dataset-oracle/protocol/client/send-and-wait";
import { hasStored } from "@dataset-oracle/protocol/client/send-update";
import {
  type Address,
  BaseError,
  type Client,
  createClient,
  custom,
  type EIP1193Provider,
  type Hash,
  isAddressEqual,
  ResourceUnavailableRpcError,
  SwitchChainError,
  type TransactionReceipt,
  UnauthorizedProviderError,
  UserRejectedRequestError,
} from "viem";
import {
  getBlockNumber,
  getChainId,
  getLogs,
  getTransaction,
  getTransactionCount,
  getTransactionReceipt,
  requestAddresses,
  switchChain,
} from "viem/actions";

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
    | "unclear"
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
type Refusal = "rejected" | "no_account" | "busy" | "unknown_chain" | "wrong_chain" | "failed";

const POLL_MS = 1_000;
/** Some wallets say that they have switched before they have. */
const SWITCH_POLLS = 10;
/** A transaction that a wallet has sent, in spite of its error, is pending after a moment. */
const PENDING_POLLS = 3;
const MINING_POLLS = 180;

/**
 * Sends an update from a wallet: connects, switches to the right chain, sends, and waits until it is mined. Never throws.
 */
export async function sendFromWallet(
  provider: EIP1193Provider,
  transaction: UpdateTransaction,
  onStep: (sending: Sending) => void,
): Promise<void> {
  const client = createClient({ transport: custom(provider, { retryCount: 0 }), pollingInterval: POLL_MS });
  let hash: Hash | undefined;
  const onSent = (sent: Hash) => {
    hash = sent;
    onStep({ step: "waiting", hash });
  };
  let isAsked = false;
  let before: Before | null = null;
  try {
    const [account] = await requestAddresses(client);
    if (account === undefined) return onStep({ step: "no_account" });
    if ((await getChainId(client)) !== transaction.chainId) {
      onStep({ step: "switching" });
      await switchChain(client, { id: transaction.chainId });
      await pollFor(SWITCH_POLLS, async () => (await getChainId(client)) === transaction.chainId || null);
    }
    before = await readBefore(client, account).catch(() => null);
    onStep({ step: "confirming" });
    isAsked = true;
    const { receipt } = await sendAndWait(client, { transaction, account, onSent });
    onStep(minedStep(receipt, transaction));
  } catch (error) {
    const refusal = refusalOf(error);
    // A transaction that was sent may still be mined.
    if (hash) onStep({ step: "unseen", hash });
    else if (!isAsked || !["failed", "busy"].includes(refusal.step)) onStep(refusal);
    else if (before === null) onStep({ step: "unclear" });
    else await lookForSent(client, transaction, before, refusal, onStep).catch(() => onStep({ step: "unclear" }));
  }
}

/** What the chain shows of an account before it sends. */
interface Before {
  readonly account: Address;
  readonly nonce: number;
  readonly block: bigint;
}

async function readBefore(client: Client, account: Address): Promise<Before> {
  const nonce = getTransactionCount(client, { address: account, blockTag: "pending" });
  const block = getBlockNumber(client, { cacheTime: 0 });
  return { account, nonce: await nonce, block: await block };
}

/** Looks whether a wallet has sent the transaction, although it says that it failed. */
async function lookForSent(
  client: Client,
  transaction: UpdateTransaction,
  { account, nonce, block }: Before,
  refusal: Sending,
  onStep: (sending: Sending) => void,
): Promise<void> {
  const isSent = await pollFor(PENDING_POLLS, async () => {
    return (await getTransactionCount(client, { address: account, blockTag: "pending" })) > nonce || null;
  });
  if (!isSent) return onStep(refusal);
  onStep({ step: "waiting" });
  const receipt = await pollFor(MINING_POLLS, async () => {
    // Nodes refuse a range that begins after their newest block.
    const logs = await getLogs(client, { address: transaction.to, fromBlock: block });
    const later = logs.filter(({ blockNumber }) => blockNumber > block);
    for (const hash of new Set(later.map(({ transactionHash }) => transactionHash))) {
      const { from } = await getTransaction(client, { hash });
      if (isAddressEqual(from, account)) return getTransactionReceipt(client, { hash });
    }
    return null;
  });
  onStep(receipt ? minedStep(receipt, transaction) : { step: "unclear" });
}

/** Asks until there is an answer. @returns Null if there is none after so many times. */
async function pollFor<T>(times: number, ask: () => Promise<T | null>): Promise<T | null> {
  for (let left = times; left > 0; left--) {
    const answer = await ask();
    if (answer !== null) return answer;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return null;
}

/**
 * A wallet cancels a transaction by replacing it, and the receipt is that of the replacement. A smart account's transaction
 * goes to another contract, which has the dataset called: what counts is whether the update was stored.
 */
function minedStep(receipt: TransactionReceipt, transaction: UpdateTransaction): Sending {
  const isDirect = receipt.to !== null && isAddressEqual(receipt.to, transaction.to);
  const unstored = !isDirect ? "unseen" : receipt.status === "reverted" ? "reverted" : "overtaken";
  const step = hasStored(receipt, transaction) ? "mined" : unstored;
  return { step, hash: receipt.transactionHash, block: receipt.blockNumber };
}

function refusalOf(error: unknown): Sending & { readonly step: Refusal } {
  if (error instanceof WrongChainError) return { step: "wrong_chain" };
  if (!(error instanceof BaseError)) return { step: "failed" };
  const has = (isCause: (cause: unknown) => boolean) => error.walk(isCause) !== null;
  // Only the details are the wallet's own words: the rest is a library's, for developers.
  const told = error.details ? { message: error.details } : {};
  if (has((cause) => cause instanceof UserRejectedRequestError)) return { step: "rejected", ...told };
  if (has((cause) => cause instanceof UnauthorizedProviderError)) return { step: "no_account", ...told };
  if (has((cause) => cause instanceof ResourceUnavailableRpcError)) return { step: "busy", ...told };
  if (has((cause) => cause instanceof SwitchChainError || wrapsUnknownChain(cause)))
    return { step: "unknown_chain", ...told };
  return { step: "failed", ...told };
}

/** Some wallets wrap the original error. */
function wrapsUnknownChain(cause: unknown): boolean {
  const { data } = (cause ?? {}) as { data?: { originalError?: { code?: unknown } } };
  return data?.originalError?.code === SwitchChainError.code;
}
