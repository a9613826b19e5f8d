/** What a queue remembers of what it has sent. */

import type { Hex } from "viem";
import type { Fees } from "./fees.js";
import type { Confirmed, Job, RoundCall, Sent } from "./job.js";
import type { Content, InFlight } from "./plan.js";

/** A job, and who waits for it. */
export interface Task {
  readonly job: Job<RoundCall>;
  call: RoundCall;
  /** Null once it was answered. */
  caller: { resolve(sent: Sent<RoundCall>): void; reject(error: unknown): void; readonly giveUpAt: number } | null;
  readonly confirmed: Deferred<Confirmed<RoundCall> | null>;
  /** Whether a caller was given a hash: from then on the update is retryQueue. */
  isPromised: boolean;
  attempts: number;
}

/** One of the transactions that had a nonce, each in place of the one before. */
export interface Version {
  /** Null for one that an earlier process has signed. */
  readonly raw: Hex | null;
  readonly hash: Hex;
  readonly call: RoundCall | null;
}

/** What has a nonce. */
export interface Transaction extends InFlight {
  /** Null when it only uses up its nonce. */
  readonly task: Task | null;
  readonly fees: Fees;
  /** The newest last. */
  readonly versions: readonly Version[];
  /** How often its nonce was found used and none of its versions mined. */
  readonly missed: number;
  /** The newest round that is to replace it, once it is there. */
  readonly renewal: { result: RoundCall | "stored" | "failed" | "running" } | null;
}

/** The last version's call, to be sent once more; null when its round is too old, or nothing is to be sent. */
export function callOf(transaction: Transaction, content: Content, now: number): RoundCall | null {
  if (content === "cancel") return null;
  const call = transaction.versions.at(-1)?.call ?? null;
  return call === null || now >= call.expiresAt ? null : call;
}

/** A promise that is resolved from outside: `Promise.withResolvers`, which Node 20 does not have. */
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
