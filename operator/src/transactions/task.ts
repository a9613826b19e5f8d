import type { Address, Hex } from "viem";
import type { StoredOutcome } from "../reports/quorum.js";
import type { ReportStatement } from "../reports/statement.js";
import type { RpcError } from "../rpc/rpc-error.js";
import type { Mined } from "../rpc/transactions.js";
import type { FeeExcess, Fees } from "./fees.js";
import type { GasCharge } from "./gas-budget.js";

/**
 * The life of what is sent. A `Task` waits for a nonce. With the nonce it has a `Transaction`, of one version or more, each in
 * place of the one before, until an RPC endpoint has accepted one (`accepted`) and one is mined (`confirmed`). A task whose
 * transaction is lost goes back to the beginning with its newest round, until its round or a newer one is stored.
 */

/** A transaction without nonce, fees and signature, which the queue adds. */
export interface ContractCall {
  readonly to: Address;
  readonly data: Hex;
  /** The gas limit. */
  readonly gas: bigint;
}

/** What a call is going to store of a key. A batch's reports are of many keys, so its outcomes have none. */
export interface CallOutcome extends StoredOutcome {
  readonly reports: readonly ReportStatement[];
}

/** A call that stores a round. */
export interface RoundCall extends ContractCall {
  /** Seconds since 1970. */
  readonly round: bigint;
  /** When the dataset starts to refuse the round, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** What it is going to store, by key, without the keys that it leaves as they are. Absent where only the chain knows it. */
  readonly outcomes?: ReadonlyMap<Hex, CallOutcome>;
}

/** What a task is about: the data points that it updates, or the member that it accuses. */
export interface Subject {
  readonly dataset: Address;
  /** At least one. The first one decides which account sends. */
  readonly keys: readonly Hex[];
  /** Null for an update. */
  readonly accused: Address | null;
}

/** Reports whether a task makes another one needless, or the other way round. */
export function isSameSubject(a: Subject, b: Subject): boolean {
  if (a.dataset !== b.dataset || a.accused !== b.accused) return false;
  return a.accused !== null || (a.keys.length === b.keys.length && a.keys.every((key, index) => key === b.keys[index]));
}

/** An update or an accusation that has to be stored, whatever happens to the transactions submitted for it. */
export interface Work {
  readonly subject: Subject;
  /** The caller that it is for; null for the operator's own work, such as a feed's, and for an earlier process's update. */
  readonly payer: string | null;
  /** Pays for every nonce that it uses. */
  readonly charge: GasCharge;
  readonly call: RoundCall;
  /** Reports whether the operator itself wants what a caller has begun: then it goes before what is only for callers. */
  readonly isUrgent?: () => boolean;
  /** Finds a task that has a nonce and stores what this one would: then this one needs no transaction. */
  readonly findUnderway?: () => Task | null;
  /**
   * Builds the call of the newest round; null when the chain has a newer one than this task's. Throws if it cannot now.
   *
   * @param own The task itself, for those who join it for the newest round.
   */
  renew(own: Task): Promise<RoundCall | null>;
  /** Reports whether the chain has stored this round or a newer one. */
  isStored(round: bigint): Promise<boolean>;
  /** Called before a transaction is given to an RPC endpoint. */
  readonly onSigned?: (hash: Hex) => void;
}

/** A version of a task's transaction. */
export interface Version {
  readonly hash: Hex;
  readonly call: RoundCall;
}

/** A mined transaction of a task, of the round that was submitted first or a newer one. */
export interface Confirmed extends Mined, Version {}

/** Another task has a nonce and stores what this one would, so this one got none. */
export class AlreadyUnderway extends Error {
  override readonly name = "AlreadyUnderway";

  constructor(readonly other: Task) {
    super("Another transaction stores this round or a newer one.");
  }
}

/** No RPC endpoint said whether it accepted a transaction, so the transaction may be mined. */
export class SubmissionUnknown extends Error {
  override readonly name = "SubmissionUnknown";

  constructor(readonly reason: unknown) {
    super("It is unknown whether an RPC endpoint has accepted the transaction. It may still be mined.");
  }
}

/** Work in a queue, and what became of it. Times are in milliseconds, by the monotonic clock. */
export class Task {
  /**
   * Resolves once an RPC endpoint has accepted the first transaction. Rejects with why nothing was submitted, or with
   * SubmissionUnknown.
   */
  readonly submitted: Promise<Version>;
  /**
   * Resolves to null when the operator shuts down first, or another transaction has stored the round. Rejects with the
   * reason when the task is given up.
   */
  readonly confirmed: Promise<Confirmed | null>;
  /** The version with the newest round that an endpoint has accepted. */
  #accepted: Version | null = null;
  #call: RoundCall;
  #refusals = 0;
  #reverts = 0;
  #isPromised: boolean;
  #newest: RoundCall;
  #unclear: unknown = null;
  readonly #joined = new Set<{ readonly round: bigint; readonly resolve: (version: Version | null) => void }>();
  /** Null once `submitted` is settled. */
  #waiter: { readonly until: number; resolve(version: Version): void; reject(error: unknown): void } | null = null;
  #confirm: (confirmed: Confirmed | null) => void = () => {};
  #giveUp: (reason: unknown) => void = () => {};

  /** @param until When it has waited long enough for a nonce; null for what an earlier process has promised. */
  constructor(
    readonly work: Work,
    until: number | null,
  ) {
    this.#call = work.call;
    this.#newest = work.call;
    this.#isPromised = until === null;
    this.submitted = new Promise((resolve, reject) => {
      if (until !== null) this.#waiter = { until, resolve, reject };
    });
    this.confirmed = new Promise((resolve, reject) => {
      this.#confirm = resolve;
      this.#giveUp = reject;
    });
    // Nobody may be waiting.
    for (const promise of [this.submitted, this.confirmed]) promise.catch(() => {});
  }

  /** The round that it has to store, if no newer one. */
  get round(): bigint {
    return this.work.call.round;
  }

  /** The call to submit, with the newest round that was built. */
  get call(): RoundCall {
    return this.#call;
  }

  /** True once a caller was given a hash: from then on the queue has to get the update stored. */
  get isPromised(): boolean {
    return this.#isPromised;
  }

  /** The call with the newest round of those that were submitted. */
  get newest(): RoundCall {
    return this.#newest;
  }

  /** Why no RPC endpoint has said that it accepted the transaction; null once one has. */
  get unclear(): unknown {
    return this.#unclear;
  }

  /** True while whoever enqueued it does not know what became of it. */
  get isAwaited(): boolean {
    return this.#waiter !== null;
  }

  /** True if it has waited too long for a nonce. */
  isLate(now: number): boolean {
    return this.#waiter !== null && now > this.#waiter.until;
  }

  /** True for the operator's own work, and for a caller's that the operator wants, too. */
  get isUrgent(): boolean {
    return this.work.payer === null || (this.work.isUrgent?.() ?? false);
  }

  /**
   * Waits until an RPC endpoint has accepted a transaction of this round or a newer one.
   *
   * @returns Null when the task ends without one.
   */
  accepted(round: bigint): Promise<Version | null> {
    if (this.#accepted !== null && this.#accepted.call.round >= round) return Promise.resolve(this.#accepted);
    return new Promise((resolve) => {
      this.#joined.add({ round, resolve });
      const leave = () => resolve(null);
      this.confirmed.then(leave, leave);
    });
  }

  /** Builds the call of the newest round, as its work does. */
  async buildNewest(): Promise<RoundCall | null> {
    const call = await this.work.renew(this);
    // What has reverted is most likely to have had too little gas. What is left over costs nothing.
    return call && { ...call, gas: call.gas * BigInt(1 + this.#reverts) };
  }

  /** Begins anew with the newest round. */
  renew(call: RoundCall): void {
    this.#call = call;
    this.#refusals = 0;
  }

  /** Counts how often its present call was refused. */
  countRefusal(): number {
    return ++this.#refusals;
  }

  /** Counts how many of its transactions have reverted since one was confirmed. */
  countRevert(): number {
    return ++this.#reverts;
  }

  /** Takes over what another task has promised. */
  promise(): void {
    this.#isPromised = true;
  }

  /** Takes note that a version was given to the endpoints. @param unclear Why none has said that it accepted it, or null. */
  given(version: Version, unclear: unknown): void {
    const { round } = version.call;
    if (round > this.#newest.round) this.#newest = version.call;
    this.#unclear = unclear;
    if (unclear !== null) return;
    // Whoever has joined it relies on the hash.
    this.#isPromised = true;
    if (this.#accepted !== null && this.#accepted.call.round > round) return;
    this.#accepted = version;
    for (const one of this.#joined) {
      if (one.round > round) continue;
      this.#joined.delete(one);
      one.resolve(version);
    }
  }

  /** Tells whoever enqueued it that an endpoint has accepted its first transaction. */
  answer(version: Version): void {
    this.#waiter?.resolve(version);
    this.#waiter = null;
  }

  /** Tells whoever enqueued it why that is not so. */
  refuse(error: unknown): void {
    this.#waiter?.reject(error);
    this.#waiter = null;
  }

  /** Ends the task: mined, or null where another transaction has stored its round or the operator shuts down. */
  end(confirmed: Confirmed | null): void {
    if (confirmed !== null) {
      this.given(confirmed, null);
      this.#reverts = 0;
    }
    this.#confirm(confirmed);
  }

  /** Gives the task up, with what its callers learn. */
  fail(error: unknown): void {
    this.#giveUp(error);
  }
}

/** How RPC endpoints answered a transaction. Without a usable answer (`unknown`), it may be on its way. */
export type SubmissionResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "unknown"; readonly error: unknown }
  | { readonly kind: "rejected"; readonly error: RpcError };

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

/** The first nonce after all of these; 0 where there is none. */
export const endOf = (nonces: Iterable<number>): number => Math.max(-1, ...nonces) + 1;

/** The transactions of a queue that are not known to be mined, by nonce. */
export class InFlightTransactions extends Map<number, Transaction> {
  /** The first nonce after those of all transactions; 0 where there is none. */
  get end(): number {
    return endOf(this.keys());
  }

  /** The nonces that the chain does not count as mined. */
  unmined(mined: number): readonly number[] {
    return [...this.keys()].filter((nonce) => nonce >= mined);
  }

  /** The first nonce after those of all transactions that there ever were; 0 where there was none. */
  get usedEnd(): number {
    return this.#usedEnd;
  }
  #usedEnd = 0;

  /** The tasks that have a nonce. */
  get tasks(): readonly Task[] {
    return [...this.values()].flatMap(({ task }) => task ?? []);
  }

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
}

/** Finds the task of a later transaction about the same subject. */
export function laterTask(transactions: Iterable<Transaction>, { task, nonce }: Transaction): Task | null {
  if (task === null) return null;
  for (const one of transactions) {
    if (one.nonce > nonce && one.task !== null && isSameSubject(one.task.work.subject, task.work.subject))
      return one.task;
  }
  return null;
}
