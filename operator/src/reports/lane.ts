/** Lets a bounded number of calls run at once. Further ones wait, first come, first served. */
export class Lane {
  #running = 0;
  readonly #waiting = new Set<() => void>();

  /**
   * @param places How many run at once.
   * @param maxWaiting How many may wait: each holds memory.
   */
  constructor(
    private readonly places: number,
    private readonly maxWaiting: number,
  ) {}

  /**
   * Waits for a place, which `leave` gives back.
   *
   * @param signal Ends the wait.
   * @returns False if there is no place for this call.
   */
  async enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#running < this.places) {
      this.#running++;
      return true;
    }
    if (this.#waiting.size >= this.maxWaiting) return false;
    return new Promise((resolve) => {
      const giveUp = () => {
        this.#waiting.delete(begin);
        resolve(false);
      };
      const begin = () => {
        signal.removeEventListener("abort", giveUp);
        resolve(true);
      };
      this.#waiting.add(begin);
      signal.addEventListener("abort", giveUp);
    });
  }

  /** Gives a place back, to whoever has waited longest. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
