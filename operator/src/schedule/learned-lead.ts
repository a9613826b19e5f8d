/** Allowance for the duration of a poll and for rounding to whole seconds. */
const MARGIN_MS = 1_000;
/** They differ mostly by whether a transaction just misses or just catches a block: a few dozen include a long one. */
const REMEMBERED = 32;

/**
 * How long before its heartbeat ends a feed's update has to start where nobody else sends: as long as the longest of the
 * latest updates took, or as long as a provider may take before the first one, plus a block and a second.
 */
export class LearnedLead {
  /** How long the latest updates took, from the decision to update until their transaction was seen mined. */
  readonly #latestMs: number[] = [];

  /** Remembers how long an update took that has been mined. */
  record(tookMs: number): void {
    this.#latestMs.push(tookMs);
    if (this.#latestMs.length > REMEMBERED) this.#latestMs.shift();
  }

  /** Returns the lead, in seconds, where blocks come this often. */
  seconds(providerTimeoutMs: number, blockMs: number): number {
    const longestMs = this.#latestMs.length === 0 ? providerTimeoutMs : Math.max(...this.#latestMs);
    return (longestMs + blockMs + MARGIN_MS) / 1000;
  }
}
