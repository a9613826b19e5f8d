import { type BackOffBounds, backOffMs, type Context, wait } from "@dataset-oracle/service/process/context";
import { UpdateReverted } from "../dataset/contract.js";
import { describeError } from "../rpc/rpc-error.js";
import type { RoundCall, Task } from "./task.js";

/** What was promised goes on within ten seconds of the end of whatever held it up. */
const BACK_OFF: BackOffBounds = { firstMs: 1_000, maxMs: 10_000 };
const GIVE_UP_MS = 600_000;
/** Each revert costs a nonce and its gas, and the next transaction is likely to revert for the same cause. */
const MAX_REVERTS = 3;

/** The retries of a task since it was promised, or last confirmed. */
interface Tries {
  since: number;
  count: number;
  /** Why its newest round was not sent. */
  error: unknown;
}

/**
 * Updates promised to a caller that have no transaction now. Each is rebuilt for its newest round until it can be sent. The
 * waits and the end belong to the task, however often it comes back.
 */
export class Retries {
  readonly #tries = new WeakMap<Task, Tries>();

  /** @param onReady Called with each task that has a call that can be sent. */
  constructor(
    private readonly context: Pick<Context, "clock" | "random" | "logger" | "closing">,
    private readonly onReady: (task: Task) => void,
  ) {}

  /** @param error Why its newest round was not sent, if it was refused: then even the first retry waits. */
  add(task: Task, error: unknown = null): void {
    const tries = this.#triesOf(task);
    tries.error = error ?? tries.error ?? new Error("its transactions were lost");
    void this.#retry(task, tries, error !== null);
  }

  /** A confirmed task that a reorganization drops begins anew. */
  forget(task: Task): void {
    this.#tries.delete(task);
  }

  /** Tries a task again whose transaction was mined and has reverted, a few times. */
  addReverted(task: Task): void {
    const tries = this.#triesOf(task);
    const reverts = task.countRevert();
    // A transaction can have waited for a block for longer than the bound on tries without one.
    tries.since = this.context.clock.monotonic();
    const fix = `${reverts} transactions have reverted. Tell the operator's owner: its RPC endpoint may understate gas.`;
    const error = new UpdateReverted(null, fix);
    if (reverts < MAX_REVERTS) {
      this.add(task, error);
      return;
    }
    this.context.logger.error(
      { ...task.work.subject, reverts },
      "gave up on an update: its transactions keep reverting",
    );
    task.fail(error);
  }

  #triesOf(task: Task): Tries {
    const known = this.#tries.get(task) ?? { since: this.context.clock.monotonic(), count: 0, error: null };
    this.#tries.set(task, known);
    return known;
  }

  /** Runs until the task can be sent, its round is stored, or the operator shuts down; within a bound. It never throws. */
  async #retry(task: Task, tries: Tries, isRefused: boolean): Promise<void> {
    const { clock, random, logger, closing } = this.context;
    const { work } = task;
    for (;;) {
      if (isRefused || tries.count > 0) await wait(backOffMs(Math.max(1, tries.count), BACK_OFF, random), closing);
      if (closing.aborted) return task.end(null);
      if (clock.monotonic() - tries.since > GIVE_UP_MS) {
        const reason = describeError(tries.error);
        logger.error({ ...work.subject, reason }, "gave up on an update after ten minutes");
        return task.fail(tries.error);
      }
      tries.count++;
      let call: RoundCall | null = null;
      try {
        // It can be stored although its receipt was not found, or by somebody else.
        if (await work.isStored(task.round)) return task.end(null);
        call = await task.buildNewest();
        // A newer round that is only pending can still be lost.
        if (call === null) tries.error = new Error("a newer round is only pending");
      } catch (error) {
        tries.error = error;
      }
      if (call !== null) {
        task.renew(call);
        return this.onReady(task);
      }
      logger.warn({ reason: describeError(tries.error) }, "the newest round could not be built; trying again");
    }
  }
}
