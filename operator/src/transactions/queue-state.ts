import type { Hex } from "viem";
import type { Confirmed, Job, RoundCall, Submitted } from "./job.js";
import type { PendingTransaction } from "./plan.js";
import type { Submission } from "./submitter.js";

/** A job in the queue, and who waits for it. Times are milliseconds since 1970. */
export interface Task extends Job<RoundCall> {
  /** The newest round that was built. */
  call: RoundCall;
  /** Null once it has its answer. */
  waiter: {
    resolve(submitted: Submitted<RoundCall>): void;
    reject(error: unknown): void;
    readonly giveUpAt: number;
  } | null;
  readonly confirmed: Deferred<Confirmed<RoundCall> | null>;
  /** True once a caller was given a hash: from then on the queue has to get the update stored. */
  isPromised: boolean;
  attempts: number;
}

/** Makes the task of a job. Without a waiter it is an update that an earlier process has promised. */
export function newTask(job: Job<RoundCall>, waiter: Task["waiter"]): Task {
  return { ...job, waiter, confirmed: deferred(), isPromised: waiter === null, attempts: 0 };
}

/** A submission; `raw` is null for a transaction that an earlier process has signed. */
type Signed = Omit<Submission, "raw"> & { readonly raw: Hex | null };

/** One of the transactions submitted with a nonce, each in place of the one before. */
interface Version extends Pick<Signed, "raw" | "hash"> {
  /** Null for a cancellation. */
  readonly call: RoundCall | null;
}

/** Everything that the queue knows about one of its nonces. */
export interface Transaction extends PendingTransaction {
  /** Null for a cancellation of a nonce that no update had. */
  readonly task: Task | null;
  /** Oldest first. */
  readonly versions: readonly Version[];
  /** How many times the nonce was found used although none of the versions was found mined. */
  readonly timesNotFound: number;
  /** The newest round that is going to replace it; null until it is needed. */
  readonly renewal: Renewal | null;
}

/** The building of the newest round: `stored` when the chain already has one that is newer. */
export interface Renewal {
  result: RoundCall | "stored" | "failed" | "running";
}

/** The transactions of a queue that are not known to be mined, by nonce. */
export class InFlightTransactions extends Map<number, Transaction> {
  /** The first nonce after those of all transactions; 0 where there is none. */
  get end(): number {
    return Math.max(-1, ...this.keys()) + 1;
  }

  put(transaction: Transaction): void {
    this.set(transaction.nonce, transaction);
  }

  /**
   * Records the version of a nonce that was just submitted.
   *
   * @param call Null for a cancellation.
   */
  add(nonce: number, task: Task | null, call: RoundCall | null, submission: Signed, now: number): void {
    const { raw, hash, fees, result } = submission;
    const before = this.get(nonce);
    this.put({
      nonce,
      task,
      dataPointId: task?.dataPointId ?? null,
      payer: task?.payer ?? null,
      fees,
      timesNotFound: before?.timesNotFound ?? 0,
      renewal: null,
      versions: [...(before?.versions ?? []), { raw, hash, call }],
      sentAt: now,
      submittedAt: now,
      expiresAt: call?.expiresAt ?? Number.POSITIVE_INFINITY,
      isAccepted: result.kind === "accepted",
    });
  }

  /** Finds the task of a later transaction for the same data point. */
  laterTask({ dataPointId, nonce }: Transaction): Task | null {
    const isLater = (other: Transaction) => other.nonce > nonce && other.dataPointId === dataPointId;
    return [...this.values()].find(isLater)?.task ?? null;
  }
}

/** A promise that is resolved from outside: `Promise.withResolvers`, which Node 20 lacks. */
interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
