/**
 * What was signed, or is being signed, for each data point at each round: the one place that keeps a provider from
 * signing two different values for one round. Memory is bounded. An entry is given up only when its round can no longer
 * be signed, and from then on that round and all before it count as forgotten, even if the clock is set back.
 */
export class Rounds<T> {
  readonly #capacity: number;
  #forgottenThrough: bigint;
  readonly #rounds = new Map<bigint, Map<string, Promise<T>>>();
  #size = 0;

  /**
   * @param capacity The most entries that are kept.
   * @param forgottenThrough The last round that may have been signed before this memory began.
   */
  constructor(capacity: number, forgottenThrough: bigint) {
    this.#capacity = capacity;
    this.#forgottenThrough = forgottenThrough;
  }

  /** The last round that may have been signed and is no longer remembered. */
  get forgottenThrough(): bigint {
    return this.#forgottenThrough;
  }

  /** The work on a data point's report at a round, done or under way. */
  recall(round: bigint, dataPoint: string): Promise<T> | undefined {
    return this.#rounds.get(round)?.get(dataPoint);
  }

  /**
   * Starts the work on a data point's report, and remembers it. Work that throws has signed nothing, and is forgotten.
   *
   * @param oldestSignable Entries of rounds before this one may give way.
   * @returns Null when the memory is full of rounds that can still be signed: then nothing is started.
   */
  begin(round: bigint, dataPoint: string, oldestSignable: bigint, work: () => Promise<T>): Promise<T> | null {
    if (round <= this.#forgottenThrough || this.recall(round, dataPoint) !== undefined) {
      throw new Error(`Round ${round} of ${dataPoint} may have been signed already.`);
    }
    if (this.#size >= this.#capacity) this.#forgetOldest(oldestSignable);
    if (this.#size >= this.#capacity) return null;
    const entries = this.#rounds.get(round) ?? new Map<string, Promise<T>>();
    this.#rounds.set(round, entries);
    const report = work();
    entries.set(dataPoint, report);
    this.#size += 1;
    report.catch(() => this.#drop(round, entries, dataPoint));
    return report;
  }

  #forgetOldest(oldestSignable: bigint): void {
    let oldest: bigint | undefined;
    for (const round of this.#rounds.keys()) if (oldest === undefined || round < oldest) oldest = round;
    if (oldest === undefined || oldest >= oldestSignable) return;
    this.#size -= this.#rounds.get(oldest)?.size ?? 0;
    this.#rounds.delete(oldest);
    if (oldest > this.#forgottenThrough) this.#forgottenThrough = oldest;
  }

  #drop(round: bigint, entries: Map<string, Promise<T>>, dataPoint: string): void {
    // The whole round may have been given up meanwhile.
    if (this.#rounds.get(round) !== entries) return;
    entries.delete(dataPoint);
    this.#size -= 1;
    if (entries.size === 0) this.#rounds.delete(round);
  }
}
