import type { Fees } from "./fees.js";
import type { Confirmed, Job, RoundCall } from "./job.js";
import { deferred, type Task, type Transaction } from "./state.js";
import type { Submitted } from "./submitter.js";
import type { Pooled } from "./txpool.js";

/** What a queue has sent and has not seen mined: one transaction for each nonce. Times are milliseconds since 1970. */
export class InFlightTransactions {
  readonly #byNonce = new Map<number, Transaction>();

  get size(): number {
    return this.#byNonce.size;
  }

  get all(): readonly Transaction[] {
    return [...this.#byNonce.values()];
  }

  has(nonce: number): boolean {
    return this.#byNonce.has(nonce);
  }

  get(nonce: number): Transaction | undefined {
    return this.#byNonce.get(nonce);
  }

  delete(nonce: number): void {
    this.#byNonce.delete(nonce);
  }

  /** Changes what is known of one. */
  set(transaction: Transaction): void {
    this.#byNonce.set(transaction.nonce, transaction);
  }

  /** An update was given to the RPC for the first time. */
  begin(task: Task, nonce: number, { signed, fees, submission }: Submitted, now: number): void {
    const { call, job } = task;
    this.set({
      ...{ nonce, dataPoint: job.dataPoint, task, fees, versions: [{ ...signed, call }] },
      ...{ sentAt: now, submittedAt: now, expiresAt: call.expiresAt },
      ...{ isAccepted: submission.kind === "accepted", isPayable: true, missed: 0, renewal: null },
    });
  }

  /** One that an earlier process has sent is this one's now. */
  recover({ nonce, hash, fees }: Pooled, job: Job<RoundCall>, now: number): void {
    const { dataPoint, call } = job;
    const confirmed = deferred<Confirmed<RoundCall> | null>();
    const task: Task = { job, call, caller: null, confirmed, isPromised: true, attempts: 0 };
    this.set({
      ...{ nonce, dataPoint, task, fees, versions: [{ raw: null, hash, call }] },
      ...{ sentAt: now, submittedAt: now, expiresAt: call.expiresAt },
      ...{ isAccepted: true, isPayable: true, missed: 0, renewal: null },
    });
  }

  /** Another version has its nonce. */
  replace(before: Replaceable, call: RoundCall | null, { signed, fees, submission }: Submitted, now: number): void {
    this.set({
      ...before,
      ...{ fees, versions: [...before.versions, { ...signed, call }] },
      ...{ sentAt: now, submittedAt: now, expiresAt: call?.expiresAt ?? Number.POSITIVE_INFINITY },
      ...{ isAccepted: submission.kind === "accepted", isPayable: true, renewal: null },
    });
  }

  /** The job of a later transaction for the same data point. */
  laterThan({ dataPoint, nonce }: Transaction): Task | null {
    return this.all.find((other) => other.dataPoint === dataPoint && other.nonce > nonce)?.task ?? null;
  }
}

/** What has a nonce, or may have it: without fees where a stranger's transaction has it. */
export type Replaceable = Pick<Transaction, "nonce" | "dataPoint" | "task" | "versions" | "missed"> & {
  readonly fees: Fees | null;
};
