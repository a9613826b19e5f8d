const HOUR_MS = 3_600_000;

type Reservation =
  | { readonly ok: true; readonly release: () => void }
  /** `isShare`: the budget has gas left, but the caller has used its share. */
  | { readonly ok: false; readonly isShare: boolean; readonly retryAfterSeconds: number };

/** The feeds' own gas budget is spent. Requests do not draw on it, so no caller is told. */
export class FeedGasSpent extends Error {
  constructor(readonly retryAfterSeconds: number) {
    super(`The feeds have used their gas for this hour. The next update is possible in ${retryAfterSeconds} s.`);
    this.name = "FeedGasSpent";
  }
}

interface Entry {
  readonly at: number;
  readonly gas: bigint;
  /** Null for a feed. */
  readonly caller: string | null;
}

/**
 * Limits the gas used in any hour, as a sliding window, and the share of each caller in it. A transaction is recorded
 * before it is sent, with its gas limit: the most that it can use.
 */
export class GasBudget {
  /** Ordered by time. */
  readonly #entries = new Set<Entry>();
  #used = 0n;
  readonly #share: bigint;

  /**
   * @param perHour In units of gas.
   * @param percentPerCaller The share of one caller.
   */
  constructor(
    private readonly perHour: bigint,
    percentPerCaller = 100,
  ) {
    this.#share = (perHour * BigInt(percentPerCaller)) / 100n;
  }

  /**
   * Reserves gas. A caller that has used none may have one transaction even if it needs more than the caller's share.
   *
   * @param nowMs Milliseconds since 1970.
   * @param caller Null for a feed, whose share is the whole budget.
   */
  reserve(gas: bigint, nowMs: number, caller: string | null = null): Reservation {
    for (const entry of this.#entries) {
      if (entry.at > nowMs - HOUR_MS) break;
      this.#remove(entry);
    }
    const excess = this.#used + gas - this.perHour;
    if (excess > 0n) {
      return { ok: false, isShare: false, retryAfterSeconds: secondsUntilFree(excess, this.#entries, nowMs) };
    }
    if (caller !== null) {
      const own = [...this.#entries].filter((entry) => entry.caller === caller);
      const ownExcess = own.reduce((sum, entry) => sum + entry.gas, gas) - this.#share;
      if (own.length > 0 && ownExcess > 0n) {
        return { ok: false, isShare: true, retryAfterSeconds: secondsUntilFree(ownExcess, own, nowMs) };
      }
    }
    const entry = { at: nowMs, gas, caller };
    this.#entries.add(entry);
    this.#used += gas;
    return { ok: true, release: () => this.#remove(entry) };
  }

  #remove(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#used -= entry.gas;
  }
}

/** Returns when the entries that cause an excess have left the window; an hour when they do not cause all of it. */
function secondsUntilFree(excess: bigint, entries: Iterable<Entry>, nowMs: number): number {
  let left = excess;
  for (const entry of entries) {
    left -= entry.gas;
    if (left <= 0n) return Math.max(1, Math.ceil((entry.at + HOUR_MS - nowMs) / 1000));
  }
  return HOUR_MS / 1000;
}
