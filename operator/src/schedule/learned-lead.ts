/** Allowance for the duration of a poll and for rounding to whole seconds. */
const MARGIN_MS = 1_000;
/**
 * Update times differ mostly by whether the transaction just misses or just catches a block, so a few dozen of them
 * include a long one.
 */
const REMEMBERED = 32;

/**
 * How long before its heartbeat ends a feed's update has to start where nobody else sends: as long as the longest of the
 * latest updates took, or as long as a provider may take before the first one, plus a block and a second.
 */
export class LearnedLead {
  /** How long the latest updates took, from the decision to update until their transaction was seen mined. */
  readonly #latestMs: number[] = [];

  /**
   * @param providerTimeoutMs How long a provider may take.
   * @param blockMs The time between blocks.
   */
  constructor(
    private readonly providerTimeoutMs: number,
    public blockMs: number,
  ) {}

  /** Remembers how long an update took that has been mined. */
  record(tookMs: number): void {
    this.#latestMs.push(tookMs);
    if (this.#latestMs.length > REMEMBERED) this.#latestMs.shift();
  }

  get seconds(): number {
    const longestMs = this.#latestMs.length === 0 ? this.providerTimeoutMs : Math.max(...this.#latestMs);
    return (longestMs + this.blockMs + MARGIN_MS) / 1000;
  }
}
