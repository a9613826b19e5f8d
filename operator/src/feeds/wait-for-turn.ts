/** The operations that a node needs while it waits for its turn. */
export interface TurnActions {
  sleep(ms: number): Promise<void>;
  /** Reports whether the chain has mined what the turn is for, whoever sent it. */
  isMined(): Promise<boolean>;
  /**
   * Looks for another node's transaction, and submits one that was shared with this node to its RPC endpoints. It is
   * `lost` if its sender has had another mined in its place.
   */
  findOtherTransaction(): Promise<"found" | "lost" | "none">;
  /** Reports whether that transaction can never be mined, because its sender has had another mined in its place. */
  isOtherLost(): Promise<boolean>;
  /** Returns how many nodes have a better rank and have lost no transaction in this turn. */
  nodesBefore(): number;
  /** Returns how long this node itself has been busy since the turn began, in milliseconds, up to a bound. */
  busyMs(): number;
}

/** Time for a transaction to reach the RPC endpoints of others, and for its block to reach this node's. */
const SPARE_MS = 1_500;
const MIN_LOOK_MS = 500;
const MAX_LOOK_MS = 2_000;
/** Time for a node to sign a transaction and share it. */
const SHARE_MS = 500;

/**
 * Waits until it is a node's turn to send, and finds out whether it still has to. It waits for other nodes'
 * transactions, but for little more than two blocks in total: members that share transactions and replace them later
 * cannot delay a round any longer.
 *
 * When a transaction is lost, all nodes whose turn has come notice at about the same time. Each then waits `SHARE_MS` for
 * every better-ranked node that has lost no transaction itself, once, so that it can share its own.
 *
 * All nodes do the same work for a round, so this node waits once more, for as long as it was busy itself: a node that is
 * overloaded cannot tell whether the others are down or as busy as it is.
 *
 * @param stages How long to wait for each node of a better rank, in milliseconds.
 * @param blockMs The time between blocks.
 * @returns True when this node has to send; false when the round, or a newer one, is mined.
 */
export async function waitForTurn(
  stages: readonly number[],
  blockMs: number,
  { sleep, isMined, findOtherTransaction, isOtherLost, nodesBefore, busyMs }: TurnActions,
): Promise<boolean> {
  for (const ms of stages) {
    await sleep(ms);
    if (await isMined()) return false;
  }
  const busy = stages.length === 0 ? 0 : busyMs();
  if (busy > 0) {
    await sleep(busy);
    if (await isMined()) return false;
  }
  let other = await findOtherTransaction();
  const lookMs = Math.min(Math.max(blockMs, MIN_LOOK_MS), MAX_LOOK_MS);
  let leftMs = 2 * blockMs + SPARE_MS;
  let shareMs = stages.length * SHARE_MS;
  while (other !== "none") {
    if (other === "lost" && (nodesBefore() === 0 || shareMs === 0)) return true;
    for (let isLost = other === "lost"; !isLost; leftMs -= lookMs) {
      if (leftMs <= 0) return true;
      await sleep(Math.min(leftMs, lookMs));
      // In this order, because a block between the two can have the transaction.
      isLost = await isOtherLost();
      if (await isMined()) return false;
    }
    const ms = Math.min(nodesBefore() * SHARE_MS, shareMs);
    shareMs -= ms;
    if (ms > 0) {
      await sleep(ms);
      if (await isMined()) return false;
    }
    other = await findOtherTransaction();
  }
  return true;
}
