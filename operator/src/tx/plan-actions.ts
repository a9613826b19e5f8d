/**
 * Decides the next actions of a transaction queue from what the chain shows and what the queue has sent. Times are
 * milliseconds since 1970.
 */

import { covers, type Fees, type NetworkFees } from "./fees.js";

/** A sender's transaction counts. */
export interface TransactionCounts {
  /** Mined transactions: the first free nonce of the latest block. */
  readonly mined: number;
  /** Mined transactions and those that follow without a gap in the node's pool; at least `mined`. */
  readonly pending: number;
}

/** A transaction of the queue, described by its last version. */
export interface PendingTransaction {
  readonly nonce: number;
  /** The data point that it updates; null for a cancellation. */
  readonly dataPointId: string | null;
  /** When this version was made. */
  readonly sentAt: number;
  /** When it was last submitted. */
  readonly submittedAt: number;
  /** True if an RPC endpoint said that it accepted it. */
  readonly isAccepted: boolean;
  /** When the dataset starts to refuse its round. */
  readonly expiresAt: number;
  /** The fees that this version offers. */
  readonly fees: Fees;
}

export interface QueueLimits {
  /** After this time without being mined, a transaction is replaced. */
  readonly stuckMs: number;
  /** After this time without being shown by the chain, a transaction is rebroadcast. */
  readonly unseenMs: number;
  /** The number of pending transactions that a sender may have. */
  readonly maxPending: number;
}

/** The content of a replacement: the newest round, the same call again, or a cancellation. */
export type ReplacementContent = "newest" | "same" | "cancel";

export type QueueAction =
  /** The chain has used the nonce: find out by which transaction. */
  | { readonly kind: "confirm"; readonly nonce: number }
  /** The next waiting update takes the nonce. */
  | { readonly kind: "send"; readonly nonce: number }
  /** The transaction fell out of the pool, or never got there. */
  | { readonly kind: "rebroadcast"; readonly nonce: number }
  | { readonly kind: "replace"; readonly nonce: number; readonly content: ReplacementContent }
  /** No node has the transaction, none follows it, and its round is too old: the nonce is free again. */
  | { readonly kind: "forget"; readonly nonce: number }
  /** The nonce is a gap, or a foreign transaction has it and is stuck. */
  | { readonly kind: "cancel"; readonly nonce: number };

/** The state from which a queue's next actions are planned. */
export interface QueueSnapshot {
  readonly counts: TransactionCounts;
  /** The queue's transactions, one for each nonce. */
  readonly sent: readonly PendingTransaction[];
  /** When each pending nonce that the queue did not send was first seen. */
  readonly foreign: ReadonlyMap<number, number>;
  /** The number of updates that wait for a nonce. */
  readonly waiting: number;
  readonly networkFees: NetworkFees;
  /** In milliseconds since 1970. */
  readonly now: number;
  readonly limits: QueueLimits;
}

/**
 * Plans the next actions. The nonces belong to the chain: one that the chain has used is confirmed, whatever the queue
 * assumed, and one that neither the chain nor the queue has is free.
 */
export function planActions(queue: QueueSnapshot): QueueAction[] {
  const { counts, sent, foreign, waiting, now, limits } = queue;
  const confirmed = sent.filter(({ nonce }) => nonce < counts.mined);
  const live = new Map(sent.filter(({ nonce }) => nonce >= counts.mined).map((one) => [one.nonce, one]));
  const end = Math.max(counts.pending, ...[...live.keys()].map((nonce) => nonce + 1));

  const actions: QueueAction[] = confirmed.map(({ nonce }) => ({ kind: "confirm", nonce }));
  let unplaced = waiting;
  let taken = 0;
  for (let nonce = counts.mined; nonce < end; nonce++) {
    taken++;
    const one = live.get(nonce);
    if (one !== undefined) {
      const action = planPending(queue, one, live, nonce === end - 1);
      if (action === null) continue;
      actions.push(action);
      if (action.kind === "forget") taken--;
    } else if (nonce < counts.pending) {
      if (now - (foreign.get(nonce) ?? now) >= limits.stuckMs) actions.push({ kind: "cancel", nonce });
    } else if (unplaced > 0) {
      unplaced--;
      actions.push({ kind: "send", nonce });
    } else {
      actions.push({ kind: "cancel", nonce });
    }
  }
  const forgets = actions.some(({ kind }) => kind === "forget");
  for (let nonce = forgets ? end - 1 : end; unplaced > 0 && taken < limits.maxPending; nonce++) {
    unplaced--;
    taken++;
    actions.push({ kind: "send", nonce });
  }
  return actions;
}

/** Plans the action for a transaction that is not mined; null leaves it alone. */
function planPending(
  { counts, networkFees, now, limits }: QueueSnapshot,
  one: PendingTransaction,
  live: ReadonlyMap<number, PendingTransaction>,
  isLast: boolean,
): QueueAction | null {
  const { nonce } = one;
  const isShown = nonce < counts.pending;
  const isExpired = now >= one.expiresAt;
  if (!isShown && isExpired && isLast) return { kind: "forget", nonce };
  // A transaction behind another has to wait for it. It is stuck by itself only if its fees are too low.
  const isStuck = now - one.sentAt >= limits.stuckMs && (nonce === counts.mined || !covers(one.fees, networkFees));
  const isUnseen = !isShown && (!one.isAccepted || now - one.submittedAt >= limits.unseenMs);
  if (isStuck || (isUnseen && isExpired)) return { kind: "replace", nonce, content: contentOf(one, live, isExpired) };
  return isUnseen ? { kind: "rebroadcast", nonce } : null;
}

function contentOf(
  one: PendingTransaction,
  live: ReadonlyMap<number, PendingTransaction>,
  isExpired: boolean,
): ReplacementContent {
  if (one.dataPointId === null) return "cancel";
  // If a newer round of the key came before an older one, the older one would store nothing.
  const isFollowed = [...live.values()].some(
    ({ dataPointId, nonce }) => dataPointId === one.dataPointId && nonce > one.nonce,
  );
  if (!isFollowed) return "newest";
  return isExpired ? "cancel" : "same";
}
