import type { Address, Hex } from "viem";
import type { Mined } from "../rpc/transactions.js";

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
  readonly call: C;
  /**
   * Builds the call of the newest round; null when the chain has a newer one than this job's. Throws if it cannot now.
   */
  renew(): Promise<C | null>;
  /** Reports whether the chain has stored this round or a newer one. */
  isStored(round: bigint): Promise<boolean>;
  /** Called before a transaction is given to an RPC endpoint. */
  readonly onSigned?: ((hash: Hex) => void) | undefined;
}

/** A mined transaction of a job, of the round that was submitted first or a newer one. */
export interface Confirmed<C extends RoundCall> extends Mined {
  readonly hash: Hex;
  readonly call: C;
}

/** A transaction that an RPC endpoint has accepted. */
export interface Submitted<C extends RoundCall> {
  readonly hash: Hex;
  /** Resolves to null when the operator shuts down first, the job is given up, or another transaction does its work. */
  readonly confirmed: Promise<Confirmed<C> | null>;
}

/** No RPC endpoint said whether it accepted a transaction, so the transaction may be mined. */
export class SubmissionUnknown extends Error {
  constructor(readonly reason: unknown) {
    super("It is unknown whether an RPC endpoint has accepted the transaction. It may still be mined.");
    this.name = "SubmissionUnknown";
  }
}
