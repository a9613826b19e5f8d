import type { Hex } from "viem";
import type { Mined } from "./receipt.js";
import type { Call } from "./submission.js";

/** A call that stores a round of a data point. */
export interface RoundCall extends Call {
  /** Seconds since 1970. */
  readonly round: bigint;
  /** From then on, in milliseconds since 1970, the dataset refuses the round. */
  readonly expiresAt: number;
}

/** An update to relay to the chain, whatever happens to the transactions that relay it. */
export interface Job<C extends RoundCall> {
  /** The data point. */
  readonly dataPoint: string;
  readonly call: C;
  /** The newest round, ready to be sent; null when the chain has a newer one than this job's. Throws when there is none now. */
  renew(): Promise<C | null>;
  /** Whether the chain has stored this round or a newer one. */
  isStored(round: bigint): Promise<boolean>;
  /** A transaction is about to be given to the RPC. */
  onSigned(hash: Hex): void;
}

/** How a job ended: a call that was mined, the job's own or one of a newer round. */
export interface Confirmed<C extends RoundCall> extends Mined {
  readonly hash: Hex;
  readonly call: C;
}

/** A transaction that the RPC has accepted. */
export interface Sent<C extends RoundCall> {
  readonly hash: Hex;
  /** Null when the operator shuts down first, or the job had to be given up. */
  readonly confirmed: Promise<Confirmed<C> | null>;
}

/** The RPC was given a transaction and did not say what became of it: it may be mined. */
export class OutcomeUnknown extends Error {
  constructor(readonly reason: unknown) {
    super("It is not known whether the RPC has accepted the transaction.");
    this.name = "OutcomeUnknown";
  }
}
