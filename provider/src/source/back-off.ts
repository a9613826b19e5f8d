/** The bounds of a back-off, in milliseconds. */
export interface BackOffBounds {
  /** The shortest wait after the first failure. Each further one doubles it. */
  readonly firstMs: number;
  /** Doubling ends here. Jitter, or what the source asks for, may go beyond. */
  readonly maxMs: number;
}

/**
 * Decides when something that fails may be tried again: after a wait that doubles with each failure in a row, plus up
 * to half of it at random, so that providers that failed together do not return together. After the wait, one attempt
 * is made alone; the others wait for its outcome.
 *
 * It makes no request and has no clock. All times are in milliseconds, by the same clock.
 */
export class BackOff {
  readonly #random: () => number;
  #failures = 0;
  /** When the wait ends. */
  #until = Number.NEGATIVE_INFINITY;
  /** When the attempt after the wait counts as lost, if its outcome is never reported. */
  #attemptUntil = Number.NEGATIVE_INFINITY;

  /** @param random Returns a number from 0 to below 1. */
  constructor(
    private readonly bounds: BackOffBounds,
    random: () => number = Math.random,
  ) {
    this.#random = random;
  }

  /** Returns how long an attempt must wait; 0 when it may be made now. */
  waitMs(now: number): number {
    return Math.max(0, this.#until - now, this.#attemptUntil - now);
  }

  /** Makes the others wait for an attempt's outcome, for `deadlineMs` at most. */
  begin(now: number, deadlineMs: number): void {
    if (this.#failures > 0) this.#attemptUntil = now + deadlineMs;
  }

  /**
   * Counts a failure. Attempts that were under way when the wait began are part of the failure that began it.
   *
   * @param startedAt When the attempt was made.
   * @param atLeastMs A wait that the source asked for.
   */
  fail(startedAt: number, now: number, atLeastMs = 0): void {
    if (startedAt >= this.#until) {
      const { firstMs, maxMs } = this.bounds;
      const wait = Math.min(maxMs, firstMs * 2 ** this.#failures);
      this.#failures += 1;
      this.#until = now + wait * (1 + this.#random() / 2);
      this.#attemptUntil = Number.NEGATIVE_INFINITY;
    }
    this.#until = Math.max(this.#until, now + atLeastMs);
  }

  /** Tells whether an attempt that succeeded ends the back-off. One that was made before the wait proves nothing. */
  isEndedBy(startedAt: number): boolean {
    return startedAt >= this.#until;
  }
}
