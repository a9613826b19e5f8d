/** What a queue does next, decided from what the chain shows and what the queue has sent. Times are milliseconds since 1970. */

/** What the chain shows of a sender. */
export interface Counts {
  /** The transactions that are mined: the first nonce that is free in the latest block. */
  readonly mined: number;
  /** With those that the node's pool has without a gap; at least `mined`. */
  readonly pending: number;
}

/** A transaction that the queue has sent, of which the last version counts. */
export interface InFlight {
  readonly nonce: number;
  /** The data point that it updates; null when it only uses up its nonce. */
  readonly dataPoint: string | null;
  /** When this version was made. */
  readonly sentAt: number;
  /** When it was last given to the RPC. */
  readonly submittedAt: number;
  /** Whether the RPC said that it has it. */
  readonly isAccepted: boolean;
  /** From then on the dataset refuses its round. */
  readonly expiresAt: number;
  /** Whether it offers what the next block asks. */
  readonly isPayable: boolean;
}

export interface QueueLimits {
  /** A transaction that is not mined for so long is replaced. */
  readonly stuckMs: number;
  /** One that the chain does not show for so long is given to the RPC again. */
  readonly unseenMs: number;
  /** How many transactions of one sender may be on their way. */
  readonly maxPending: number;
}

/** What replaces a transaction: the newest round of its key, the same once more, or a transfer of nothing to itself. */
export type Content = "newest" | "same" | "cancel";

export type Action =
  /** The chain has used its nonce: find out how. */
  | { readonly kind: "confirm"; readonly nonce: number }
  /** An update that waits takes this nonce. */
  | { readonly kind: "send"; readonly nonce: number }
  /** It fell out of the pool, or never got there. */
  | { readonly kind: "rebroadcast"; readonly nonce: number }
  | { readonly kind: "replace"; readonly nonce: number; readonly content: Content }
  /** Nobody has it, nothing follows it, and it is too old: its nonce is free. */
  | { readonly kind: "forget"; readonly nonce: number }
  /** Nothing of the queue's has this nonce: a gap, or a transaction that the queue did not send. */
  | { readonly kind: "cancel"; readonly nonce: number };

/**
 * The chain is the only owner of the nonce. What the queue has sent is only joined with it: a nonce that the chain has
 * used is confirmed whatever the queue thought, and a nonce that neither has is free.
 *
 * @param sent What the queue has sent, one for each nonce.
 * @param foreign When each nonce that the chain has and the queue has not was first seen.
 * @param waiting The number of updates that wait for a nonce.
 */
export function planActions(
  counts: Counts,
  sent: readonly InFlight[],
  foreign: ReadonlyMap<number, number>,
  waiting: number,
  nowMs: number,
  limits: QueueLimits,
): Action[] {
  const confirmed = sent.filter(({ nonce }) => nonce < counts.mined);
  const live = new Map(sent.filter(({ nonce }) => nonce >= counts.mined).map((one) => [one.nonce, one]));
  const end = Math.max(counts.pending, ...[...live.keys()].map((nonce) => nonce + 1));

  const actions: Action[] = confirmed.map(({ nonce }) => ({ kind: "confirm", nonce }));
  let unplaced = waiting;
  let taken = 0;
  for (let nonce = counts.mined; nonce < end; nonce++) {
    taken++;
    const one = live.get(nonce);
    const isShown = nonce < counts.pending;
    if (one !== undefined) {
      const action = planOne(one, live, isShown, nonce === counts.mined, nonce === end - 1, nowMs, limits);
      if (action === null) continue;
      actions.push(action);
      if (action.kind === "forget") taken--;
    } else if (isShown) {
      if (nowMs - (foreign.get(nonce) ?? nowMs) >= limits.stuckMs) actions.push({ kind: "cancel", nonce });
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

function planOne(
  one: InFlight,
  live: ReadonlyMap<number, InFlight>,
  isShown: boolean,
  isFirst: boolean,
  isLast: boolean,
  nowMs: number,
  limits: QueueLimits,
): Action | null {
  const { nonce } = one;
  const isExpired = nowMs >= one.expiresAt;
  if (!isShown && isExpired && isLast) return { kind: "forget", nonce };
  // One behind another waits for it; it is stuck by itself only when it offers too little.
  const isStuck = nowMs - one.sentAt >= limits.stuckMs && (isFirst || !one.isPayable);
  const isUnseen = !isShown && (!one.isAccepted || nowMs - one.submittedAt >= limits.unseenMs);
  if (isStuck || (isUnseen && isExpired)) return { kind: "replace", nonce, content: contentOf(one, live, isExpired) };
  return isUnseen ? { kind: "rebroadcast", nonce } : null;
}

function contentOf(one: InFlight, live: ReadonlyMap<number, InFlight>, isExpired: boolean): Content {
  if (one.dataPoint === null) return "cancel";
  // A newer round of the key before an older one would make the older one revert.
  const isFollowed = [...live.values()].some(
    ({ dataPoint, nonce }) => dataPoint === one.dataPoint && nonce > one.nonce,
  );
  if (!isFollowed) return "newest";
  return isExpired ? "cancel" : "same";
}
