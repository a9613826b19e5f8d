import type { UpdateProgress } from "@dataset-oracle/protocol/client/update-progress";
import type { Trace } from "@dataset-oracle/service/http-server/trace";

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
