import type { Hex } from "viem";
import type { NodeErrorKind } from "../rpc/node-errors.js";
import type { RpcError } from "../rpc/rpc-error.js";
import type { FeeExcess, Fees } from "./fees.js";
import type { Confirmed, Job, RoundCall, Submitted } from "./job.js";

/** A job in the queue, and who waits for it. Times are in milliseconds, by the monotonic clock. */
export interface Task extends Job<RoundCall> {
  /** The newest round that was built. */
  call: RoundCall;
  /** Null once it has its answer. */
  waiter: {
    resolve(submitted: Submitted<RoundCall>): void;
    reject(error: unknown): void;
    readonly giveUpAt: number;
  } | null;
  /** A promise that is resolved from outside: `Promise.withResolvers`, which Node 20 lacks. */
  readonly confirmed: {
    readonly promise: Promise<Confirmed<RoundCall> | null>;
    resolve(confirmed: Confirmed<RoundCall> | null): void;
  };
  /** True once a caller was given a hash: from then on the queue has to get the update stored. */
  isPromised: boolean;
  attempts: number;
}

/** Makes the task of a job. Without a waiter it is an update that an earlier process has promised. */
export function newTask(job: Job<RoundCall>, waiter: Task["waiter"]): Task {
  let resolve: Task["confirmed"]["resolve"] = () => {};
  const promise: Task["confirmed"]["promise"] = new Promise((done) => {
    resolve = done;
  });
  return { ...job, waiter, confirmed: { promise, resolve }, isPromised: waiter === null, attempts: 0 };
}

/** How RPC endpoints answered a transaction. Without a usable answer (`unknown`), it may be on its way. */
export type SubmissionResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "unknown"; readonly error: unknown }
  | { readonly kind: "rejected"; readonly why: NodeErrorKind; readonly error: RpcError };

/** A transaction that was given to the RPC endpoints. */
export interface Submission {
  /** The signed transaction; null if an earlier process signed it. */
  readonly raw: Hex | null;
  readonly hash: Hex;
  readonly fees: Fees;
  readonly result: SubmissionResult;
  /** The cap that is too low for the nodes that rejected it; null unless one is. */
  readonly excess: FeeExcess | null;
}

/** One of the transactions submitted with a nonce, each in place of the one before. */
interface Version extends Pick<Submission, "raw" | "hash"> {
  /** Null for a cancellation. */
  readonly call: RoundCall | null;
}

/** Everything that the queue knows about one of its nonces. Its fees and times are those of its last version. */
export interface Transaction {
  readonly nonce: number;
  /** Null for a cancellation of a nonce that no update had. */
  readonly task: Task | null;
  /** Oldest first. */
  readonly versions: readonly Version[];
  readonly fees: Fees;
  /** When the version was made, by the monotonic clock, like `submittedAt`. */
  readonly sentAt: number;
  /** When it was last submitted. */
  submittedAt: number;
  /** True if an RPC endpoint said that it accepted it. */
  isAccepted: boolean;
  /** When the dataset starts to refuse its round, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** How many times the nonce was found used although none of the versions was found mined. */
  timesNotFound: number;
  /**
   * The newest round, which is going to replace it: null until it is needed, `running` while it is built. Its call is null
   * for a cancellation, because the chain already has a newer one.
   */
  renewal: { readonly call: RoundCall | null } | "running" | null;
}

/** The transactions of a queue that are not known to be mined, by nonce. */
export class InFlightTransactions extends Map<number, Transaction> {
  /** The first nonce after those of all transactions; 0 where there is none. */
  get end(): number {
    return Math.max(-1, ...this.keys()) + 1;
  }

  /**
   * Records the version of a nonce that was just submitted.
   *
   * @param call Null for a cancellation.
   */
  add(nonce: number, task: Task | null, call: RoundCall | null, submission: Submission, now: number): void {
    const { raw, hash, fees, result } = submission;
    const before = this.get(nonce);
    this.set(nonce, {
      nonce,
      task,
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
  laterTask({ task, nonce }: Transaction): Task | null {
    const isLater = (other: Transaction) => other.nonce > nonce && other.task?.dataPointId === task?.dataPointId;
    return [...this.values()].find(isLater)?.task ?? null;
  }
}
