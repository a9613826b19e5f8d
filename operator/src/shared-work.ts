import type { Clock } from "./clock.js";
import { Progress } from "./progress.js";

/** One piece of work, which any number of requests wait for. */
export interface Shared<T> {
  readonly result: Promise<T>;
  readonly progress: Progress;
}

interface Entry<T> extends Shared<T> {
  /** When it succeeded, in milliseconds since 1970; null while it runs. */
  doneAt: number | null;
}

/**
 * Runs each piece of work once, however many ask for it. What succeeded is remembered for a while; a failure is
 * forgotten at once. Work belongs to nobody who waits for it: a caller that goes away ends nothing.
 */
export class SharedWork<T> {
  readonly #entries = new Map<string, Entry<T>>();

  constructor(
    private readonly clock: Clock,
    private readonly rememberMs: number,
  ) {}

  run(id: string, start: (progress: Progress) => Promise<T>): Shared<T> {
    this.#forgetOld();
    const known = this.#entries.get(id);
    if (known) return known;
    const progress = new Progress();
    const result = start(progress);
    const entry: Entry<T> = { result, progress, doneAt: null };
    this.#entries.set(id, entry);
    result.then(
      () => {
        entry.doneAt = this.clock();
        if (this.#entries.get(id) !== entry) return;
        // The map is in the order in which work ended, so that the oldest is found without a search.
        this.#entries.delete(id);
        this.#entries.set(id, entry);
      },
      () => {
        if (this.#entries.get(id) === entry) this.#entries.delete(id);
      },
    );
    return entry;
  }

  /** Whether this work has succeeded and is still remembered. */
  hasDone(id: string): boolean {
    return typeof this.#entries.get(id)?.doneAt === "number";
  }

  /** Lets the next caller start anew, when what came of the work turned out to be of no use. */
  forget(id: string): void {
    this.#entries.delete(id);
  }

  #forgetOld(): void {
    const oldest = this.clock() - this.rememberMs;
    for (const [id, { doneAt }] of this.#entries) {
      if (doneAt === null) continue;
      if (doneAt > oldest) return;
      this.#entries.delete(id);
    }
  }
}
