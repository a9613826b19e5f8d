import type { UpdateProgress } from "@dataset-oracle/protocol/client/update-progress";
import type { Trace } from "@dataset-oracle/service/http-server/trace";
import type { Clock } from "@dataset-oracle/service/process/context";
import type { Counter } from "prom-client";

export type ProgressListener = (step: UpdateProgress) => void;

/** The steps of one piece of work. A late follower is notified of the earlier steps first. */
export class Progress {
  readonly #steps: UpdateProgress[] = [];
  readonly #listeners = new Set<ProgressListener>();

  /** @param trace Of the request that started the work; null where there is none. */
  constructor(readonly trace: Trace | null = null) {}

  emit(step: UpdateProgress): void {
    this.#steps.push(step);
    for (const listener of this.#listeners) listener(step);
  }

  /** @returns A function that stops following. */
  follow(listener: ProgressListener): () => void {
    for (const step of this.#steps) listener(step);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** A piece of work that any number of callers wait for. */
export interface Flight<T> {
  readonly result: Promise<T>;
  readonly progress: Progress;
}

/** Waits for a flight, and notifies a listener of its steps until `use` is done with the result. */
export async function followFlight<T, R>(
  flight: Flight<T>,
  listener: ProgressListener,
  use: (result: T) => R | Promise<R>,
): Promise<R> {
  const unfollow = flight.progress.follow(listener);
  try {
    return await use(await flight.result);
  } finally {
    unfollow();
  }
}

interface RememberedFlight<T> extends Flight<T> {
  /** What it came to, and when, by the monotonic clock; null while it runs. */
  done: { readonly value: T; readonly at: number } | null;
}

interface SingleFlightSettings {
  /** How long a success is remembered. */
  readonly rememberMs: number;
  /** Called whenever work is shared instead of started again. */
  readonly onShared?: () => void;
}

/**
 * Runs each piece of work once, however many callers ask for it. A success is remembered for a while, a failure is
 * forgotten at once. The work does not belong to its callers: it goes on when they leave.
 */
export class SingleFlight<T> {
  readonly #entries = new Map<string, RememberedFlight<T>>();

  constructor(
    private readonly clock: Clock,
    private readonly settings: SingleFlightSettings,
  ) {}

  /** @param trace The trace of the caller's request; the work takes it over if this call starts the work. */
  run(id: string, start: (progress: Progress) => Promise<T>, trace: Trace | null = null): Flight<T> {
    const known = this.join(id);
    if (known) return known;
    const progress = new Progress(trace);
    const result = start(progress);
    const entry: RememberedFlight<T> = { result, progress, done: null };
    this.#entries.set(id, entry);
    result.then(
      (value) => {
        entry.done = { value, at: this.clock.monotonic() };
        if (this.#entries.get(id) !== entry) return;
        // Entries stay ordered by when they ended, so that the oldest is found without a search.
        this.#entries.delete(id);
        this.#entries.set(id, entry);
      },
      () => {
        if (this.#entries.get(id) === entry) this.#entries.delete(id);
      },
    );
    return entry;
  }

  /** Returns work that is running, or has succeeded a short while ago, to share it. */
  join(id: string): Flight<T> | undefined {
    this.#forgetOld();
    const known = this.#entries.get(id);
    if (known) this.settings.onShared?.();
    return known;
  }

  /** Returns the result of work that has succeeded and that no later `run` has forgotten. */
  done(id: string): T | undefined {
    const done = this.#entries.get(id)?.done;
    if (done) this.settings.onShared?.();
    return done?.value;
  }

  /** Returns work that is running, or has succeeded and that no later `run` has forgotten. */
  find(id: string): Flight<T> | undefined {
    return this.#entries.get(id);
  }

  /** Lets the next caller start again, because the result turned out to be useless. */
  forget(id: string): void {
    this.#entries.delete(id);
  }

  #forgetOld(): void {
    const oldest = this.clock.monotonic() - this.settings.rememberMs;
    for (const [id, { done }] of this.#entries) {
      if (done === null) continue;
      if (done.at > oldest) return;
      this.#entries.delete(id);
    }
  }
}

/** Requests name a new round each second, so nobody asks for an older one again. */
const REMEMBER_ROUND_MS = 10_000;

/**
 * Shares work that belongs to a round among all who ask for it.
 *
 * @param work The kind of work, as the metrics count it.
 */
export function singleFlightOfRounds<T>(clock: Clock, coalesced: Counter<"work">, work: string): SingleFlight<T> {
  return new SingleFlight(clock, { rememberMs: REMEMBER_ROUND_MS, onShared: () => coalesced.inc({ work }) });
}
