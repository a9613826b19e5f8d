const HOUR_MS = 3_600_000;

type Reservation =
  | { readonly ok: true; readonly release: () => void }
  /** `isShareSpent`: the budget has gas left, but the caller has used its share. */
  | { readonly ok: false; readonly isShareSpent: boolean; readonly retryAfterSeconds: number };

/** The feeds' own gas budget is spent. Requests do not draw on it, so no caller is told. */
export class FeedGasSpent extends Error {
  constructor(readonly retryAfterSeconds: number) {
    super(`The feeds have used up gasPerHourForFeeds. The next update is possible in ${retryAfterSeconds} s.`);
    this.name = "FeedGasSpent";
  }
}

/** A recorded transaction. */
interface Entry {
  /** In milliseconds, by the monotonic clock. */
  readonly at: number;
  readonly gas: bigint;
  /** Null for a feed. */
  readonly payer: string | null;
}

/**
 * Limits the gas used in any hour, as a sliding window, and the share of each caller in it. A transaction is recorded
 * before it is submitted, with its gas limit: the most that it can use.
 */
export class GasBudget {
  /** Ordered by time. */
  readonly #entries = new Set<Entry>();
  #total = 0n;
  /** The gas of each payer that has an entry, and of the feeds. */
  readonly #byPayer = new Map<Entry["payer"], bigint>();
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
   * @param nowMs In milliseconds, by the monotonic clock.
   * @param payer Null for a feed, whose share is the whole budget.
   */
  reserve(gas: bigint, nowMs: number, payer: string | null = null): Reservation {
    this.#forgetBefore(nowMs - HOUR_MS);
    const excess = this.#total + gas - this.perHour;
    if (excess > 0n) return { ok: false, isShareSpent: false, ...this.#waitFor(excess, nowMs, () => true) };
    const own = payer === null ? undefined : this.#byPayer.get(payer);
    const ownExcess = own === undefined ? 0n : own + gas - this.#share;
    if (ownExcess > 0n) {
      return { ok: false, isShareSpent: true, ...this.#waitFor(ownExcess, nowMs, (entry) => entry.payer === payer) };
    }
    const entry = { at: nowMs, gas, payer };
    this.#entries.add(entry);
    this.#count(entry, gas);
    return { ok: true, release: () => this.#remove(entry) };
  }

  /** Returns the part of the budget that is reserved, from 0 to 1; 0 for a budget of nothing. */
  usedRatio(nowMs: number): number {
    this.#forgetBefore(nowMs - HOUR_MS);
    return this.perHour === 0n ? 0 : Number(this.#total) / Number(this.perHour);
  }

  #forgetBefore(time: number): void {
    for (const entry of this.#entries) {
      if (entry.at > time) break;
      this.#remove(entry);
    }
  }

  /** Finds out when enough of some entries will have left to free `excess`; an hour if all are not enough. */
  #waitFor(excess: bigint, nowMs: number, counts: (entry: Entry) => boolean): { readonly retryAfterSeconds: number } {
    let left = excess;
    for (const entry of this.#entries) {
      if (!counts(entry)) continue;
      left -= entry.gas;
      if (left <= 0n) return { retryAfterSeconds: Math.max(1, Math.ceil((entry.at + HOUR_MS - nowMs) / 1000)) };
    }
    return { retryAfterSeconds: HOUR_MS / 1000 };
  }

  #remove(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#count(entry, -entry.gas);
  }

  #count({ payer }: Entry, gas: bigint): void {
    this.#total += gas;
    const own = (this.#byPayer.get(payer) ?? 0n) + gas;
    if (own === 0n) this.#byPayer.delete(payer);
    else this.#byPayer.set(payer, own);
  }
}
