import type { Hex } from "viem";
import type { NodeErrorKind } from "../rpc/node-errors.js";
import type { RpcError } from "../rpc/rpc-error.js";
import type { FeeExcess, Fees } from "./fees.js";
import type { GasCharge } from "./gas-budget.js";
import type { Confirmed, Job, RoundCall, Submitted, Underway, Version } from "./job.js";

/** A job in the queue, and who waits for it. Times are in milliseconds, by the monotonic clock. */
export interface Task extends Job<RoundCall> {
  /** The newest round that was built. */
  call: RoundCall;
  /** The round that it has to store, if no newer one. */
  readonly round: bigint;
  /** Null once it has its answer. */
  waiter: {
    resolve(submitted: Submitted<RoundCall>): void;
    reject(error: unknown): void;
    readonly giveUpAt: number;
  } | null;
  /** The task, as others see it who join it. */
  readonly underway: Underway;
  /** True once a caller was given a hash: from then on the queue has to get the update stored. */
  isPromised: boolean;
  /** How often its present call was refused. */
  attempts: number;
  /** Its retries since it was promised: they belong to the task, so that nothing begins them anew. */
  readonly retries: { since: number | null; count: number; reverts: number; error: unknown };
  /** Notes that a version was given to the endpoints. @param unclear Why none has said that it accepted it, or null. */
  given(version: Version, unclear: unknown): void;
  /** Ends the task: mined, or null where another transaction has stored its round or the operator shuts down. */
  end(confirmed: Confirmed<RoundCall> | null): void;
  /** Gives the task up, with what its callers learn. */
  fail(error: unknown): void;
}

/** Makes the task of a job. Without a waiter it is an update that an earlier process has promised. */
export function newTask(job: Job<RoundCall>, waiter: Task["waiter"]): Task {
  let resolve: Task["end"] = () => {};
  let reject: Task["fail"] = () => {};
  const confirmed = new Promise<Confirmed<RoundCall> | null>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  // Nobody may be waiting.
  confirmed.catch(() => {});
  /** The version with the newest round that an endpoint has accepted. */
  let accepted: Version | null = null;
  let newest = job.call;
  let unclear: unknown = null;
  const joined = new Set<{ readonly round: bigint; readonly resolve: (version: Version | null) => void }>();
  const over = () => {
    for (const one of joined) one.resolve(null);
  };
  const underway: Underway = {
    dataPointId: job.dataPointId,
    get call() {
      return newest;
    },
    get unclear() {
      return unclear;
    },
    accepted: (round) => {
      if (accepted !== null && accepted.call.round >= round) return Promise.resolve(accepted);
      return new Promise((done) => joined.add({ round, resolve: done }));
    },
    confirmed,
  };
  const given: Task["given"] = (version, why) => {
    const { round } = version.call;
    if (round > newest.round) newest = version.call;
    unclear = why;
    if (why !== null) return;
    // Whoever has joined it relies on the hash.
    task.isPromised = true;
    if (accepted !== null && accepted.call.round > round) return;
    accepted = version;
    for (const one of joined) {
      if (one.round > round) continue;
      joined.delete(one);
      one.resolve(version);
    }
  };
  const task: Task = {
    ...{ ...job, waiter, underway, isPromised: waiter === null, attempts: 0, given, round: job.call.round },
    retries: { since: null, count: 0, reverts: 0, error: null },
    end: (mined) => {
      if (mined !== null) given(mined, null);
      over();
      resolve(mined);
    },
    fail: (error) => {
      over();
      reject(error);
    },
  };
  return task;
}

/** How RPC endpoints answered a transaction. Without a usable answer (`unknown`), it may be on its way. */
export type SubmissionResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "unknown"; readonly error: unknown }
  | { readonly kind: "rejected"; readonly why: NodeErrorKind; readonly error: RpcError };

/** A transaction that was given to the RPC endpoints. */
export interface Submission {
  /** The signed transaction. */
  readonly raw: Hex;
  readonly hash: Hex;
  readonly fees: Fees;
  readonly result: SubmissionResult;
  /** The cap that is too low for the nodes that rejected it; null unless one is. */
  readonly excess: FeeExcess | null;
}

/** One of the transactions submitted with a nonce, each in place of the one before. */
interface SignedVersion extends Pick<Submission, "raw" | "hash"> {
  /** Null for a cancellation. */
  readonly call: RoundCall | null;
}

/** Everything that the queue knows about one of its nonces. Its fees and times are those of its last version. */
export interface Transaction {
  readonly nonce: number;
  /** Null for a cancellation of a nonce that no update had. */
  readonly task: Task | null;
  /** Pays for it: the task's, or that of the operator itself. */
  readonly charge: GasCharge;
  /** Oldest first. */
  readonly versions: readonly SignedVersion[];
  readonly fees: Fees;
  /** When the version was made, by the monotonic clock, like `submittedAt`. */
  sentAt: number;
  /** When it was last submitted. */
  submittedAt: number;
  /** True if an RPC endpoint said that it accepted it. */
  isAccepted: boolean;
  /** When the dataset starts to refuse its round, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** Since when the nonce is used although none of the versions is found mined; null while neither is known. */
  notFoundSince: number | null;
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

  /** The first nonce after those of all transactions that there ever were; 0 where there was none. */
  get usedEnd(): number {
    return this.#usedEnd;
  }
  #usedEnd = 0;

  /**
   * Records the version of a nonce that was just submitted.
   *
   * @param call Null for a cancellation.
   * @param charge Pays for it.
   */
  add(
    nonce: number,
    task: Task | null,
    call: RoundCall | null,
    submission: Submission,
    charge: GasCharge,
    now: number,
  ): void {
    const { raw, hash, fees, result } = submission;
    const before = this.get(nonce);
    this.#usedEnd = Math.max(this.#usedEnd, nonce + 1);
    if (call !== null) task?.given({ hash, call }, result.kind === "unknown" ? result.error : null);
    this.set(nonce, {
      nonce,
      task,
      charge,
      fees,
      notFoundSince: before?.notFoundSince ?? null,
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
