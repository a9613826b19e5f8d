/**
 * Decides the next actions of a transaction queue from what the chain shows and what the queue has submitted. Times are
 * in milliseconds.
 */

import { covers, type NetworkFees } from "./fees.js";
import { laterTask, type Task, type Transaction } from "./task.js";

/** A sender's transaction counts. */
export interface TransactionCounts {
  /** Mined transactions: the first free nonce of the latest block. */
  readonly mined: number;
  /** Mined transactions and those that follow without a gap in the node's pool; at least `mined`. */
  readonly pending: number;
}

export interface QueueLimits {
  /** After this time without being mined, a transaction is replaced. */
  readonly stuckMs: number;
  /** After this time without being shown by the chain, a transaction is rebroadcast. */
  readonly unseenMs: number;
  /** The number of pending transactions that a sender may have. */
  readonly maxPending: number;
  /** A node can count a transaction as mined this long before it has the receipt. */
  readonly lostMs: number;
}

/** The content of a replacement: the newest round, the same call again, or a cancellation. */
export type ReplacementContent = "newest" | "same" | "cancel";

export type QueueAction =
  /** The chain has used the nonce: find out by which transaction. */
  | { readonly kind: "confirm"; readonly nonce: number }
  /** A waiting update takes the nonce. */
  | { readonly kind: "submit"; readonly nonce: number; readonly task: Task }
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
  readonly sent: readonly Transaction[];
  /** When each pending nonce that the queue did not use was first seen. */
  readonly foreign: ReadonlyMap<number, number>;
  /** The updates that wait for a nonce, the oldest first. */
  readonly waiting: readonly Task[];
  readonly networkFees: NetworkFees;
  /** By the monotonic clock, like all times here but the ends of rounds. */
  readonly now: number;
  /** In milliseconds since 1970, for the ends of rounds. */
  readonly timeOfDay: number;
  readonly limits: Omit<QueueLimits, "lostMs">;
}

/**
 * Plans the next actions. The nonces belong to the chain: one that the chain has used is confirmed, whatever the queue
 * assumed, and one that neither the chain nor the queue has is free.
 */
export function planActions(queue: QueueSnapshot): QueueAction[] {
  const { counts, sent, foreign, now, timeOfDay, limits } = queue;
  const confirmed = sent.filter(({ nonce }) => nonce < counts.mined);
  const byNonce = new Map(sent.map((one) => [one.nonce, one]));
  let end = Math.max(counts.pending, ...[...byNonce.keys()].map((nonce) => nonce + 1));

  const actions: QueueAction[] = confirmed.map(({ nonce }) => ({ kind: "confirm", nonce }));
  const last = byNonce.get(end - 1);
  if (last !== undefined && last.nonce >= counts.pending && timeOfDay >= last.expiresAt) {
    actions.push({ kind: "forget", nonce: last.nonce });
    byNonce.delete(last.nonce);
    end--;
  }
  const waiting = inTurn(queue.waiting, sent).values();
  let task = waiting.next().value;
  const fullAt = counts.mined + limits.maxPending;
  for (let nonce = counts.mined; nonce < end || (task !== undefined && nonce < fullAt); nonce++) {
    const one = byNonce.get(nonce);
    if (one !== undefined) {
      actions.push(...planPending(queue, one));
    } else if (nonce < counts.pending) {
      if (now - (foreign.get(nonce) ?? now) >= limits.stuckMs) actions.push({ kind: "cancel", nonce });
    } else if (task !== undefined) {
      actions.push({ kind: "submit", nonce, task });
      task = waiting.next().value;
    } else {
      actions.push({ kind: "cancel", nonce });
    }
  }
  return actions;
}

/**
 * Orders the waiting updates. The urgent ones go first, because the values of feeds have a maximum age. Among requests, the
 * one whose caller has the fewest pending transactions goes first, so that a caller with many requests delays mostly its own.
 */
function inTurn(waiting: readonly Task[], sent: readonly Transaction[]): readonly Task[] {
  const counts = new Map<string, number>();
  /** Returns how many of a payer's transactions come before its next one. */
  const next = (task: Task | null): number => {
    const payer = task?.work.payer ?? null;
    if (task === null || payer === null || task.isUrgent) return -1;
    const before = counts.get(payer) ?? 0;
    counts.set(payer, before + 1);
    return before;
  };
  for (const { task } of sent) next(task);
  const turns = waiting.map((task) => ({ task, before: next(task) }));
  return turns.toSorted((a, b) => a.before - b.before).map(({ task }) => task);
}

/** Plans the action for a transaction that is not mined; none leaves it alone. */
function planPending(
  { counts, sent, networkFees, now, timeOfDay, limits }: QueueSnapshot,
  one: Transaction,
): QueueAction[] {
  const { nonce } = one;
  const isShown = nonce < counts.pending;
  const isExpired = timeOfDay >= one.expiresAt;
  // A transaction behind another has to wait for it. It is stuck by itself only if its fees are too low.
  const isStuck = now - one.sentAt >= limits.stuckMs && (nonce === counts.mined || !covers(one.fees, networkFees));
  const isUnseen = !isShown && (!one.isAccepted || now - one.submittedAt >= limits.unseenMs);
  if (isStuck || (isUnseen && isExpired)) return [{ kind: "replace", nonce, content: contentOf(one, sent, isExpired) }];
  return isUnseen ? [{ kind: "rebroadcast", nonce }] : [];
}

function contentOf(one: Transaction, sent: readonly Transaction[], isExpired: boolean): ReplacementContent {
  if (one.task === null) return "cancel";
  // If a newer round of the key came before an older one, the older one would store nothing.
  if (laterTask(sent, one) === null) return "newest";
  return isExpired ? "cancel" : "same";
}
