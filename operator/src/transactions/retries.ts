import { type Context, wait } from "@dataset-oracle/service/process/context";
import { describeError } from "../rpc/rpc-error.js";
import type { Task } from "./queue-state.js";

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
const GIVE_UP_MS = 600_000;

/**
 * Updates promised to a caller that have no transaction yet. Each is rebuilt for its newest round until it can be sent.
 */
export class Retries {
  readonly #tasks = new Set<Task>();

  /** @param onReady Called with each task that has a call that can be sent. */
  constructor(
    private readonly context: Pick<Context, "clock" | "logger" | "closing">,
    private readonly onReady: (task: Task) => void,
  ) {}

  /** @param isRefused True if its newest round was just refused: then the first retry waits. */
  add(task: Task, isRefused = false): void {
    this.#tasks.add(task);
    void this.#retry(task, isRefused ? FIRST_RETRY_MS : 0);
  }

  close(): void {
    for (const task of this.#tasks) this.#end(task);
  }

  /** Runs until the task can be sent or its round is stored, within a bound. It never throws. */
  async #retry(task: Task, firstWaitMs: number): Promise<void> {
    const { clock, logger, closing } = this.context;
    const giveUpAt = clock.monotonic() + GIVE_UP_MS;
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(Math.max(2 * waitMs, FIRST_RETRY_MS), MAX_RETRY_MS)) {
      if (waitMs > 0) await wait(waitMs, closing);
      if (!this.#tasks.has(task)) return;
      if (clock.monotonic() > giveUpAt) {
        const { dataPointId } = task;
        logger.error({ dataPointId }, "gave up on an update: no newer round could be built for ten minutes");
        return this.#end(task);
      }
      try {
        const call = await task.renew();
        // A newer round that is only pending can still be lost.
        if (call === null && !(await task.isStored(task.call.round))) throw new Error("a newer round is only pending");
        if (call === null || !this.#tasks.delete(task)) return this.#end(task);
        Object.assign(task, { call, attempts: 0 });
        return this.onReady(task);
      } catch (error) {
        logger.warn({ reason: describeError(error) }, "the newest round could not be built; trying again");
      }
    }
  }

  #end(task: Task): void {
    this.#tasks.delete(task);
    task.confirmed.resolve(null);
  }
}
