/** Updates differ mostly by the moment at which they miss or catch a block, so some tens of them show the longest. */
const REMEMBERED = 32;

/** Remembers how long the latest updates took, from the decision to update until their transaction was seen mined. */
export class UpdateLatency {
  readonly #latest: number[] = [];

  /** @param assumedMs The duration that is assumed until an update has been measured. */
  constructor(private readonly assumedMs: number) {}

  record(ms: number): void {
    this.#latest.push(ms);
    if (this.#latest.length > REMEMBERED) this.#latest.shift();
  }

  /** The longest of the latest updates, in milliseconds. */
  get longestMs(): number {
    return this.#latest.length === 0 ? this.assumedMs : Math.max(...this.#latest);
  }
}
