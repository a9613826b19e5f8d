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

/** A recorded transaction. `at` is in milliseconds since 1970. */
interface Entry {
  readonly at: number;
  readonly gas: bigint;
  /** Null for a feed. */
  readonly payer: string | null;
}

/** Recorded transactions, ordered by time, and the sum of their gas. */
class Recorded extends Set<Entry> {
  gas = 0n;

  override add(entry: Entry): this {
    this.gas += entry.gas;
    return super.add(entry);
  }

  override delete(entry: Entry): boolean {
    const isDeleted = super.delete(entry);
    if (isDeleted) this.gas -= entry.gas;
    return isDeleted;
  }

  /** Returns in how many seconds enough entries will have left to free `excess`; an hour if all are not enough. */
  secondsUntilFree(excess: bigint, nowMs: number): number {
    let left = excess;
    for (const { at, gas } of this) {
      left -= gas;
      if (left <= 0n) return Math.max(1, Math.ceil((at + HOUR_MS - nowMs) / 1000));
    }
    return HOUR_MS / 1000;
  }
}

/**
 * Limits the gas used in any hour, as a sliding window, and the share of each caller in it. A transaction is recorded
 * before it is sent, with its gas limit: the most that it can use.
 */
export class GasBudget {
  readonly #all = new Recorded();
  /** The transactions of each payer that has any. */
  readonly #byPayer = new Map<string, Recorded>();
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
   * @param payer Null for a feed, whose share is the whole budget.
   */
  reserve(gas: bigint, nowMs: number, payer: string | null = null): Reservation {
    for (const entry of this.#all) {
      if (entry.at > nowMs - HOUR_MS) break;
      this.#remove(entry);
    }
    const refused = (recorded: Recorded, excess: bigint, isShareSpent: boolean) =>
      ({ ok: false, isShareSpent, retryAfterSeconds: recorded.secondsUntilFree(excess, nowMs) }) as const;
    const excess = this.#all.gas + gas - this.perHour;
    if (excess > 0n) return refused(this.#all, excess, false);
    const own = payer === null ? undefined : this.#byPayer.get(payer);
    const ownExcess = own === undefined ? 0n : own.gas + gas - this.#share;
    if (own !== undefined && ownExcess > 0n) return refused(own, ownExcess, true);

    const entry = { at: nowMs, gas, payer };
    this.#all.add(entry);
    if (payer !== null) this.#byPayer.set(payer, (own ?? new Recorded()).add(entry));
    return { ok: true, release: () => this.#remove(entry) };
  }

  #remove(entry: Entry): void {
    this.#all.delete(entry);
    const { payer } = entry;
    const own = payer === null ? undefined : this.#byPayer.get(payer);
    own?.delete(entry);
    if (payer !== null && own?.size === 0) this.#byPayer.delete(payer);
  }
}
