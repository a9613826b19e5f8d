interface LaneSettings {
  /** How many run at once. */
  readonly places: number;
  /** How many may wait: each holds memory. */
  readonly maxWaiting: number;
}

/** Lets a bounded number of calls run at once. Further ones wait, first come, first served. */
export class Lane {
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(private readonly settings: LaneSettings) {}

  /**
   * Waits for a place, which `leave` gives back.
   *
   * @param signal Ends the wait.
   * @returns False if there is no place for this call.
   */
  async enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const { places, maxWaiting } = this.settings;
    if (this.#running < places) {
      this.#running++;
      return true;
    }
    if (this.#waiting.size >= maxWaiting) return false;
    return new Promise((resolve) => {
      const giveUp = () => {
        this.#waiting.delete(takePlace);
        resolve(false);
      };
      const takePlace = () => {
        signal.removeEventListener("abort", giveUp);
        resolve(true);
      };
      this.#waiting.add(takePlace);
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
