/**
 * The places of the requests to one origin, of which so many are made at once as there are connections for them: then
 * none that counts as sent still waits for one. A request without a place was not sent, which is not a failure of the
 * source.
 */
export class Places {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(private readonly size: number) {
    this.#free = size;
  }

  /** Waits for a place for at most so many milliseconds, and tells whether there was one. A place has to be left. */
  async take(maxWaitMs: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const enter = () => {
        clearTimeout(timer);
        this.#waiting.delete(enter);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(enter);
        resolve(false);
      }, maxWaitMs);
      this.#waiting.add(enter);
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else next();
  }

  get isUnused(): boolean {
    return this.#free === this.size;
  }
}
