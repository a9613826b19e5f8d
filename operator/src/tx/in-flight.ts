import type { Hex } from "viem";
import type { Fees } from "./fees.js";
import type { PooledUpdate } from "./foreign-transactions.js";
import type { Confirmed, Job, RoundCall, Sent } from "./job.js";
import type { PlannedTransaction } from "./plan.js";
import type { Submission } from "./submitter.js";

/** A job in the queue, with the caller that waits for it. Times are milliseconds since 1970. */
export interface Task {
  readonly job: Job<RoundCall>;
  call: RoundCall;
  /** Null once the caller has its answer. */
  caller: { resolve(sent: Sent<RoundCall>): void; reject(error: unknown): void; readonly giveUpAt: number } | null;
  readonly confirmed: Deferred<Confirmed<RoundCall> | null>;
  /** True once a caller was given a hash: from then on the queue has to get the update stored. */
  isPromised: boolean;
  attempts: number;
}

/** One of the transactions sent with a nonce, each in place of the one before. */
export interface Version {
  /** Null for a transaction that an earlier process has signed. */
  readonly raw: Hex | null;
  readonly hash: Hex;
  /** Null for a cancellation. */
  readonly call: RoundCall | null;
}

/** Everything that the queue knows about one of its nonces. */
export interface Transaction extends PlannedTransaction {
  /** Null for a cancellation of a nonce that no update had. */
  readonly task: Task | null;
  readonly fees: Fees;
  /** Oldest first. */
  readonly versions: readonly Version[];
  /** How often the chain had used the nonce and none of the versions was found mined. */
  readonly missed: number;
  /** The newest round that is going to replace it; null until it is needed. */
  readonly renewal: Renewal | null;
}

/** The building of the newest round: `stored` when the chain already has one that is newer. */
export interface Renewal {
  result: RoundCall | "stored" | "failed" | "running";
}

/** A nonce that can be replaced: without fees where a foreign transaction has it. */
export type Replaceable = Pick<Transaction, "nonce" | "dataPointId" | "task" | "versions" | "missed"> & {
  readonly fees: Fees | null;
};

/** The transactions of a queue that are not known to be mined, one for each nonce. */
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

  set(transaction: Transaction): void {
    this.#byNonce.set(transaction.nonce, transaction);
  }

  /** Records the first submission of a task. */
  add(task: Task, nonce: number, { raw, hash, fees, result }: Submission, now: number): void {
    const { call, job } = task;
    const versions = [{ raw, hash, call }];
    const isAccepted = result.kind === "accepted";
    this.set(newTransaction(nonce, job.dataPointId, task, fees, versions, now, call.expiresAt, isAccepted));
  }

  /** Records a pending transaction of an earlier process. */
  recover({ nonce, hash, fees }: PooledUpdate, job: Job<RoundCall>, now: number): void {
    const { call, dataPointId } = job;
    const task: Task = { job, call, caller: null, confirmed: deferred(), isPromised: true, attempts: 0 };
    const versions = [{ raw: null, hash, call }];
    this.set(newTransaction(nonce, dataPointId, task, fees, versions, now, call.expiresAt, true));
  }

  /** Records another version of a nonce. */
  replace(before: Replaceable, call: RoundCall | null, { raw, hash, fees, result }: Submission, now: number): void {
    const { nonce, dataPointId, task, missed } = before;
    const versions = [...before.versions, { raw, hash, call }];
    const expiresAt = call?.expiresAt ?? Number.POSITIVE_INFINITY;
    const isAccepted = result.kind === "accepted";
    this.set({ ...newTransaction(nonce, dataPointId, task, fees, versions, now, expiresAt, isAccepted), missed });
  }

  /** Finds the task of a later transaction for the same data point. */
  laterTask({ dataPointId, nonce }: Transaction): Task | null {
    return this.all.find((other) => other.dataPointId === dataPointId && other.nonce > nonce)?.task ?? null;
  }
}

function newTransaction(
  nonce: number,
  dataPointId: string | null,
  task: Task | null,
  fees: Fees,
  versions: readonly Version[],
  now: number,
  expiresAt: number,
  isAccepted: boolean,
): Transaction {
  const times = { sentAt: now, submittedAt: now, expiresAt };
  return { nonce, dataPointId, task, fees, versions, ...times, isAccepted, isPayable: true, missed: 0, renewal: null };
}

/** A promise that is resolved from outside: `Promise.withResolvers`, which Node 20 lacks. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
