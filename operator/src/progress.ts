import type { UpdateProgress } from "@dataset-oracle/protocol/client/progress";
import type { Trace } from "@dataset-oracle/service/trace";

export type ProgressListener = (step: UpdateProgress) => void;

/** Who waits for a piece of work. */
export interface Caller {
  /** Of the request; null where there is none. */
  readonly trace: Trace | null;
  readonly listener: ProgressListener;
}

/** The steps of one piece of work. Whoever follows late is told what happened before. */
export class Progress {
  readonly #steps: UpdateProgress[] = [];
  readonly #listeners = new Set<ProgressListener>();

  /** @param trace Of the request that began the work; null where there is none. */
  constructor(readonly trace: Trace | null = null) {}

  emit(step: UpdateProgress): void {
    this.#steps.push(step);
    for (const listener of this.#listeners) listener(step);
  }

  /** @returns What ends the following. */
  follow(listener: ProgressListener): () => void {
    for (const step of this.#steps) listener(step);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
