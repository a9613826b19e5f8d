import type { Address, Hex } from "viem";
import type { Mined } from "../rpc/transactions.js";
import type { GasCharge } from "./gas-budget.js";

/** A transaction without nonce, fees and signature, which the queue adds. */
export interface Call {
  readonly to: Address;
  readonly data: Hex;
  /** The gas limit. */
  readonly gas: bigint;
}

/** A call that stores a round. */
export interface RoundCall extends Call {
  /** Seconds since 1970. */
  readonly round: bigint;
  /** When the dataset starts to refuse the round, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/**
 * An update, or an accusation, that has to be stored, whatever happens to the transactions submitted for it. Its life:
 * Job → Task (waits for a nonce) → Transaction (has one, in 1 to n Versions) → Submitted (an RPC endpoint accepted it) →
 * Confirmed (mined).
 */
export interface Job<C extends RoundCall> {
  /** Identifies the data point, the data points of a batch, or the accused member. */
  readonly dataPointId: string;
  /** The caller that it is for; null for a feed, an accusation, and an update of an earlier process. */
  readonly payer: string | null;
  /** Pays for every nonce that it uses. */
  readonly charge: GasCharge;
  /** Until when it may wait for a nonce, by the monotonic clock; without it, for MAX_QUEUE_MS. */
  readonly giveUpAt?: number;
  readonly call: C;
  /** Reports whether a feed waits for it, too: then it goes before what is only for requests. */
  readonly isUrgent?: () => boolean;
  /** Finds a job that has a nonce and stores what this one would: then this one needs no transaction. */
  readonly findUnderway?: () => Underway | null;
  /**
   * Builds the call of the newest round; null when the chain has a newer one than this job's. Throws if it cannot now.
   *
   * @param own This job, as those see it who join it for the newest round.
   */
  renew(own: Underway): Promise<C | null>;
  /** Reports whether the chain has stored this round or a newer one. */
  isStored(round: bigint): Promise<boolean>;
  /** Called before a transaction is given to an RPC endpoint. */
  readonly onSigned?: ((hash: Hex) => void) | undefined;
}

/** A version of a job's transaction. */
export interface Version<C extends RoundCall = RoundCall> {
  readonly hash: Hex;
  readonly call: C;
}

/** A mined transaction of a job, of the round that was submitted first or a newer one. */
export interface Confirmed<C extends RoundCall> extends Mined, Version<C> {}

/** A job that has a nonce, or had one and is going to get another. */
export interface Underway<C extends RoundCall = RoundCall> {
  readonly dataPointId: string;
  /** The call with the newest round of those that were submitted. */
  readonly call: C;
  /** Why no RPC endpoint has said that it accepted the transaction; null once one has. */
  readonly unclear: unknown;
  /**
   * Waits until an RPC endpoint has accepted a transaction of this round or a newer one.
   *
   * @returns Null when the job ends without one.
   */
  accepted(round: bigint): Promise<Version<C> | null>;
  /**
   * Resolves to null when the operator shuts down first, or another transaction has stored the round. Rejects with the
   * reason when the job is given up.
   */
  readonly confirmed: Promise<Confirmed<C> | null>;
}

/** A transaction that an RPC endpoint has accepted. */
export interface Submitted<C extends RoundCall> extends Version<C> {
  readonly underway: Underway<C>;
  readonly confirmed: Underway<C>["confirmed"];
}

/** Another job has a nonce and stores what this one would, so this one got none. */
export class AlreadyUnderway extends Error {
  constructor(readonly other: Underway) {
    super("Another transaction stores this round or a newer one.");
    this.name = "AlreadyUnderway";
  }
}

/** No RPC endpoint said whether it accepted a transaction, so the transaction may be mined. */
export class SubmissionUnknown extends Error {
  constructor(readonly reason: unknown) {
    super("It is unknown whether an RPC endpoint has accepted the transaction. It may still be mined.");
    this.name = "SubmissionUnknown";
  }
}
