import type { Logger } from "pino";
import type { Clock } from "../context.js";
import { describeError } from "../rpc/rpc-error.js";
import type { Task } from "./queue-state.js";

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
const GIVE_UP_MS = 600_000;

interface Retry {
  readonly since: number;
  readonly nextAt: number;
  readonly isRunning: boolean;
}

/**
 * Updates promised to a caller that have no transaction yet. Each is rebuilt for its newest round until it can be sent.
 */
export class RetryQueue {
  readonly #retries = new Map<Task, Retry>();

  /** @param onTried Called after each attempt, with the task once it has a call that can be sent. */
  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly onTried: (ready: Task | null) => void,
  ) {}

  get size(): number {
    return this.#retries.size;
  }

  /** @param isRefused True if its newest round was just refused: then the first retry waits. */
  add(task: Task, isRefused = false): void {
    const since = this.clock();
    this.#retries.set(task, { since, nextAt: isRefused ? since + FIRST_RETRY_MS : since, isRunning: false });
  }

  /** Starts the retries that are due, and does not wait for them. */
  run(): void {
    const now = this.clock();
    for (const [task, retry] of this.#retries) {
      if (retry.isRunning || now < retry.nextAt) continue;
      if (now - retry.since > GIVE_UP_MS) {
        this.logger.error(
          { dataPointId: task.dataPointId },
          "gave up on an update: no newer round could be built for ten minutes",
        );
        this.#end(task);
        continue;
      }
      this.#retries.set(task, { ...retry, isRunning: true });
      void this.#try(task, retry.since);
    }
  }

  close(): void {
    for (const task of this.#retries.keys()) this.#end(task);
  }

  async #try(task: Task, since: number): Promise<void> {
    try {
      const call = await task.renew();
      // A newer round that is only pending can still be lost.
      if (call === null && !(await task.isStored(task.call.round))) {
        throw new Error("a newer round is only pending");
      }
      if (!this.#retries.has(task)) return;
      if (call === null) {
        this.#end(task);
      } else {
        this.#retries.delete(task);
        Object.assign(task, { call, attempts: 0 });
      }
      this.onTried(call === null ? null : task);
    } catch (error) {
      if (!this.#retries.has(task)) return;
      this.logger.warn({ reason: describeError(error) }, "the newest round could not be built; trying again");
      const now = this.clock();
      const wait = Math.min(Math.max(now - since, FIRST_RETRY_MS), MAX_RETRY_MS);
      this.#retries.set(task, { since, nextAt: now + wait, isRunning: false });
      this.onTried(null);
    }
  }

  #end(task: Task): void {
    this.#retries.delete(task);
    task.confirmed.resolve(null);
  }
}
