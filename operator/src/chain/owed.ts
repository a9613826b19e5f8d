import type { Logger } from "pino";
import type { Clock } from "../clock.js";
import type { Task } from "./lane-state.js";
import { wordsOf } from "./rpc.js";

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
const GIVEN_UP_MS = 600_000;

interface Debt {
  readonly since: number;
  readonly nextTryAt: number;
  readonly isTrying: boolean;
}

/** Updates that were promised and have no transaction: their newest round is asked for again and again. */
export class Owed {
  readonly #debts = new Map<Task, Debt>();

  /** @param onTried Is called after each attempt: with the task, once it has a call that can be sent. */
  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly onTried: (ready: Task | null) => void,
  ) {}

  get size(): number {
    return this.#debts.size;
  }

  /** @param isRefused Whether its newest round was just refused. */
  add(task: Task, isRefused = false): void {
    const since = this.clock();
    this.#debts.set(task, { since, nextTryAt: isRefused ? since + FIRST_MS : since, isTrying: false });
  }

  /** Asks for the newest rounds that are due. It does not wait for them. */
  pay(): void {
    const now = this.clock();
    for (const [task, debt] of this.#debts) {
      if (debt.isTrying || now < debt.nextTryAt) continue;
      if (now - debt.since > GIVEN_UP_MS) {
        this.logger.error({ point: task.job.point }, "an update was given up: no newer round could be had");
        this.#end(task);
        continue;
      }
      this.#debts.set(task, { ...debt, isTrying: true });
      void this.#try(task, debt.since);
    }
  }

  close(): void {
    for (const task of this.#debts.keys()) this.#end(task);
  }

  async #try(task: Task, since: number): Promise<void> {
    try {
      const call = await task.job.renew();
      // What is only pending can still be lost.
      if (call === null && !(await task.job.isStored(task.call.round)))
        throw new Error("a newer round is only pending");
      if (!this.#debts.has(task)) return;
      if (call === null) this.#end(task);
      else this.#debts.delete(task);
      if (call !== null) Object.assign(task, { call, attempts: 0 });
      this.onTried(call === null ? null : task);
    } catch (error) {
      if (!this.#debts.has(task)) return;
      this.logger.warn({ reason: wordsOf(error) }, "no newer round yet");
      const now = this.clock();
      const wait = Math.min(Math.max(now - since, FIRST_MS), LONGEST_MS);
      this.#debts.set(task, { since, nextTryAt: now + wait, isTrying: false });
      this.onTried(null);
    }
  }

  #end(task: Task): void {
    this.#debts.delete(task);
    task.settled.resolve(null);
  }
}
