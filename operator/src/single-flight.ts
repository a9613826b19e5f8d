import type { Trace } from "@dataset-oracle/service/trace";
import type { Clock } from "./clock.js";
import { Progress, type ProgressListener } from "./progress.js";

/** One piece of work, which any number of requests wait for. */
export interface Flight<T> {
  readonly result: Promise<T>;
  readonly progress: Progress;
}

/** Tells a listener the steps of a piece of work, while it is waited for and its result is used. */
export async function following<T, R>(
  work: Flight<T>,
  listener: ProgressListener,
  use: (result: T) => Promise<R>,
): Promise<R> {
  const unfollow = work.progress.follow(listener);
  try {
    return await use(await work.result);
  } finally {
    unfollow();
  }
}

interface Entry<T> extends Flight<T> {
  /** When it succeeded, in milliseconds since 1970; null while it runs. */
  doneAt: number | null;
  value?: T;
}

/**
 * Runs each piece of work once, however many ask for it. What succeeded is remembered for a while; a failure is
 * forgotten at once. Work belongs to nobody who waits for it: a caller that goes away ends nothing.
 */
export class SingleFlight<T> {
  readonly #entries = new Map<string, Entry<T>>();

  constructor(
    private readonly clock: Clock,
    private readonly rememberMs: number,
    /** Called whenever work is shared instead of done again. */
    private readonly onShared: () => void = () => {},
  ) {}

  /** @param trace Of the request that asks; it is the work's if the request begins it. */
  run(id: string, start: (progress: Progress) => Promise<T>, trace: Trace | null = null): Flight<T> {
    this.#forgetOld();
    const known = this.#entries.get(id);
    if (known) {
      this.onShared();
      return known;
    }
    const progress = new Progress(trace);
    const result = start(progress);
    const entry: Entry<T> = { result, progress, doneAt: null };
    this.#entries.set(id, entry);
    result.then(
      (value) => {
        entry.value = value;
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

  /** What came of work that has succeeded and is still remembered. */
  done(id: string): T | undefined {
    const value = this.#entries.get(id)?.value;
    if (value !== undefined) this.onShared();
    return value;
  }

  /** Whether this work runs, or has succeeded and is still remembered. */
  has(id: string): boolean {
    return this.#entries.has(id);
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
