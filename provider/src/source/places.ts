import { wait } from "@dataset-oracle/service/process/context";

/**
 * The places of the requests to one origin, of which so many are made at once as there are connections for them: then
 * none that counts as sent still waits for one. A request without a place was not sent, which is not a failure of the
 * source.
 */
export class Places {
  #free: number;
  /** Those who wait for a place. Each is told by its signal that it has one. */
  readonly #waiting = new Set<AbortController>();

  constructor(private readonly size: number) {
    this.#free = size;
  }

  /** Waits for a place for at most so many milliseconds, and tells whether there was one. A place has to be left. */
  async take(maxWaitMs: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const entering = new AbortController();
    this.#waiting.add(entering);
    await wait(maxWaitMs, entering.signal);
    this.#waiting.delete(entering);
    return entering.signal.aborted;
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next.abort();
  }

  get isUnused(): boolean {
    return this.#free === this.size;
  }
}
