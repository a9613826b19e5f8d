/** How long an item waits for others while earlier ones are being handled. */
const WAIT_MS = 3;

/**
 * Hands over items in batches: those that are added at the same moment or, while earlier items are being handled,
 * within a few milliseconds. A lone item is not delayed.
 */
export class Batcher<T> {
  #waiting: T[] = [];
  #isScheduled = false;
  /** The number of batches that are being handled. */
  #inFlight = 0;

  /**
   * @param maxItems The size of a batch.
   * @param handle Takes one item or more. It does not reject.
   */
  constructor(
    private readonly maxItems: number,
    private readonly handle: (items: readonly T[]) => Promise<void>,
  ) {}

  add(item: T): void {
    this.#waiting.push(item);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (this.#inFlight === 0) queueMicrotask(() => this.#handOver());
    else setTimeout(() => this.#handOver(), WAIT_MS);
  }

  #handOver(): void {
    const items = this.#waiting;
    this.#waiting = [];
    this.#isScheduled = false;
    for (let start = 0; start < items.length; start += this.maxItems) {
      this.#inFlight += 1;
      void this.handle(items.slice(start, start + this.maxItems)).finally(() => {
        this.#inFlight -= 1;
      });
    }
  }
}
