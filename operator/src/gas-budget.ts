const HOUR_MS = 3_600_000;

export type Reservation =
  | { readonly ok: true; readonly release: () => void }
  | { readonly ok: false; readonly retryAfterSeconds: number };

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
}

/**
 * Limits the gas used in any hour, as a sliding window. A transaction is recorded before it is sent, with its gas limit:
 * the most that it can use.
 */
export class GasBudget {
  /** Ordered by time. */
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

  /** Returns when enough gas has left the window; an hour when even an empty window is too small. */
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
