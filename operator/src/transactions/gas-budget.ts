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
  /** In milliseconds since 1970. */
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
  /** Those of the last hour, the oldest first. */
  #entries: readonly Entry[] = [];
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
    this.#entries = this.#entries.filter(({ at }) => at > nowMs - HOUR_MS);
    const wait = secondsUntilFree(this.#entries, this.perHour - gas, nowMs);
    if (wait > 0) return { ok: false, isShareSpent: false, retryAfterSeconds: wait };
    const own = payer === null ? [] : this.#entries.filter((entry) => entry.payer === payer);
    const ownWait = own.length === 0 ? 0 : secondsUntilFree(own, this.#share - gas, nowMs);
    if (ownWait > 0) return { ok: false, isShareSpent: true, retryAfterSeconds: ownWait };
    const entry = { at: nowMs, gas, payer };
    this.#entries = [...this.#entries, entry];
    const release = () => {
      this.#entries = this.#entries.filter((one) => one !== entry);
    };
    return { ok: true, release };
  }
}

/** Returns when entries use at most `most`, as they leave one by one; an hour if that is never. */
function secondsUntilFree(entries: readonly Entry[], most: bigint, nowMs: number): number {
  let excess = entries.reduce((sum, { gas }) => sum + gas, -most);
  if (excess <= 0n) return 0;
  for (const { at, gas } of entries) {
    excess -= gas;
    if (excess <= 0n) return Math.max(1, Math.ceil((at + HOUR_MS - nowMs) / 1000));
  }
  return HOUR_MS / 1000;
}
