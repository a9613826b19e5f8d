const HOUR_MS = 3_600_000;

export type Reservation =
  | { readonly ok: true; readonly release: () => void }
  | { readonly ok: false; readonly retryAfterSeconds: number };

/**
 * Gas that may be used in any hour: a sliding window. A transaction is recorded before it is sent, with its gas limit,
 * the most that it can use.
 */
export class GasBudget {
  readonly #spent: { readonly at: number; readonly gas: bigint }[] = [];

  /** @param perHour In units of gas. */
  constructor(private readonly perHour: bigint) {}

  /** @param nowMs Milliseconds since 1970. */
  reserve(gas: bigint, nowMs: number): Reservation {
    this.#forgetOld(nowMs);
    let excess = this.#spent.reduce((sum, { gas }) => sum + gas, gas) - this.perHour;
    if (excess <= 0n) {
      const entry = { at: nowMs, gas };
      this.#spent.push(entry);
      return { ok: true, release: () => this.#release(entry) };
    }
    for (const { at, gas } of this.#spent) {
      excess -= gas;
      if (excess <= 0n) return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil((at + HOUR_MS - nowMs) / 1000)) };
    }
    // Not even a whole hour's gas is enough.
    return { ok: false, retryAfterSeconds: HOUR_MS / 1000 };
  }

  #forgetOld(nowMs: number): void {
    while (this.#spent[0] !== undefined && this.#spent[0].at <= nowMs - HOUR_MS) this.#spent.shift();
  }

  #release(entry: { readonly at: number; readonly gas: bigint }): void {
    const index = this.#spent.indexOf(entry);
    if (index >= 0) this.#spent.splice(index, 1);
  }
}
