import type { Task, Transaction } from "./queue-state.js";

/**
 * The updates that wait for a nonce. Those without a payer go first: feeds, because their values have a maximum age,
 * and with them accusations and updates of an earlier process. Among requests, the one whose caller has the fewest
 * pending transactions goes first, so that a caller with many requests delays mostly its own.
 */
export class UpdatesWithoutNonce {
  /** Oldest first. */
  #tasks: Task[] = [];

  get size(): number {
    return this.#tasks.length;
  }

  /** The number of waiting updates that no request is behind. */
  get withoutPayer(): number {
    return this.#tasks.filter(({ payer }) => payer === null).length;
  }

  add(task: Task): void {
    this.#tasks.push(task);
  }

  /** Adds a task that could not be sent before those that came later. */
  putBack(task: Task): void {
    this.#tasks.unshift(task);
  }

  /** Takes the next task, if there is one. */
  take(pending: Iterable<Transaction>): Task | undefined {
    const counts = new Map<string, number>();
    for (const { task } of pending) {
      if (task?.payer != null) counts.set(task.payer, (counts.get(task.payer) ?? 0) + 1);
    }
    const countOf = ({ payer }: Task) => (payer === null ? -1 : (counts.get(payer) ?? 0));
    const [first, ...others] = this.#tasks;
    if (first === undefined) return undefined;
    const next = others.reduce((best, task) => (countOf(task) < countOf(best) ? task : best), first);
    this.#tasks.splice(this.#tasks.indexOf(next), 1);
    return next;
  }

  /** Takes the tasks that fulfil a condition. */
  takeAll(fulfils: (task: Task) => boolean = () => true): readonly Task[] {
    const taken = this.#tasks.filter(fulfils);
    this.#tasks = this.#tasks.filter((task) => !taken.includes(task));
    return taken;
  }
}
