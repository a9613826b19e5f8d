const HOUR_MS = 3_600_000;

export type Reservation =
  | { readonly ok: true; readonly release: () => void }
  | { readonly ok: false; readonly retryAfterSeconds: number };

/** The gas that feeds may use is spent: no stranger's doing, and none's concern. */
export class FeedGasSpent extends Error {
  constructor(readonly retryAfterSeconds: number) {
    super("The gas that feeds may use in an hour is used up.");
    this.name = "FeedGasSpent";
  }
}

interface Entry {
  readonly at: number;
  readonly gas: bigint;
}

/**
 * Gas that may be used in any hour: a sliding window. A transaction is recorded before it is sent, with its gas limit,
 * the most that it can use.
 */
export class GasBudget {
  /** In the order of time. */
  readonly #entries = new Set<Entry>();
  #used = 0n;

  /** @param perHour In units of gas. */
  constructor(private readonly perHour: bigint) {}

  /** @param nowMs Milliseconds since 1970. */
  reserve(gas: bigint, nowMs: number): Reservation {
    for (const entry of this.#entries) {
      if (entry.at > nowMs - HOUR_MS) break;
      this.#remove(entry);
    }
    if (this.#used + gas > this.perHour) return { ok: false, retryAfterSeconds: this.#secondsUntil(gas, nowMs) };
    const entry = { at: nowMs, gas };
    this.#entries.add(entry);
    this.#used += gas;
    return { ok: true, release: () => this.#remove(entry) };
  }

  /** When enough has left the window; a whole hour when even an empty one is too small. */
  #secondsUntil(gas: bigint, nowMs: number): number {
    let excess = this.#used + gas - this.perHour;
    for (const entry of this.#entries) {
      excess -= entry.gas;
      if (excess <= 0n) return Math.max(1, Math.ceil((entry.at + HOUR_MS - nowMs) / 1000));
    }
    return HOUR_MS / 1000;
  }

  #remove(entry: Entry): void {
    if (this.#entries.delete(entry)) this.#used -= entry.gas;
  }
}
