import type { Logger } from "pino";
import type { Rpc } from "../chain/rpc.js";
import { describeError } from "../chain/rpc-error.js";
import type { Clock } from "../clock.js";
import type { Market } from "./fees.js";
import type { InFlightTransactions, Replaceable } from "./in-flight.js";
import type { RoundCall } from "./job.js";
import type { Content } from "./plan.js";
import { callOf, type Transaction } from "./state.js";
import { type Submission, submit } from "./submission.js";
import type { Submitter } from "./submitter.js";

/** What a queue works with when it replaces. */
export interface ReplacementParts {
  readonly rpc: Rpc;
  readonly submitter: Submitter;
  readonly sent: InFlightTransactions;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Is called once a newer round that was asked for is there, or cannot be had. */
  readonly onRenewed: () => void;
}

/** Puts something at a nonce that is taken already: the same transaction once more, or another in its place. */
export class Replacements {
  readonly #parts: ReplacementParts;
  readonly counts = { replaced: 0, cancelled: 0, rebroadcast: 0 };

  constructor(parts: ReplacementParts) {
    this.#parts = parts;
  }

  /** A transfer of nothing takes a nonce that nothing of the queue's has. */
  async cancel(nonce: number, market: Market): Promise<void> {
    await this.#offer({ nonce, dataPoint: null, task: null, versions: [], missed: 0, fees: null }, null, market);
    this.counts.cancelled++;
  }

  /** The node does not show it: it is given to all endpoints again. */
  async rebroadcast(transaction: Transaction, market: Market): Promise<void> {
    const { rpc, sent, clock, logger } = this.#parts;
    const version = transaction.versions.at(-1);
    if (version === undefined) return;
    const { raw, hash } = version;
    if (raw === null) return this.replace(transaction, "newest", market);
    const submission = await submit(rpc, { raw, hash });
    this.counts.rebroadcast++;
    logger.info({ nonce: transaction.nonce, transaction: hash, ...saidOf(submission) }, "rebroadcast");
    sent.set({ ...transaction, isAccepted: submission.kind === "accepted", submittedAt: clock() });
  }

  /** It is stuck, or gone: another transaction takes its nonce. */
  async replace(transaction: Transaction, content: Content, market: Market): Promise<void> {
    const call = content === "newest" ? this.#newest(transaction) : callOf(transaction, content, this.#parts.clock());
    if (call === "later") return;
    await this.#offer(transaction, call, market);
  }

  /** The newest round, once it is there; if it cannot be had, the same, or nothing when that is too old. */
  #newest(transaction: Transaction): RoundCall | null | "later" {
    const { sent, clock, logger, onRenewed } = this.#parts;
    const { task, renewal } = transaction;
    if (task === null || renewal?.result === "stored") return null;
    if (renewal?.result === "failed") return callOf(transaction, "same", clock());
    if (renewal !== null) return renewal.result === "running" ? "later" : renewal.result;
    const begun: { result: RoundCall | "stored" | "failed" | "running" } = { result: "running" };
    sent.set({ ...transaction, renewal: begun });
    void task.job
      .renew()
      .then((call) => {
        begun.result = call ?? "stored";
      })
      .catch((error: unknown) => {
        begun.result = "failed";
        logger.warn({ reason: describeError(error) }, "no newer round");
      })
      .finally(onRenewed);
    return "later";
  }

  /** Puts another call at a nonce, in place of what has it. */
  async #offer(transaction: Replaceable, newer: RoundCall | null, market: Market): Promise<void> {
    const { submitter, sent, clock, logger } = this.#parts;
    const { nonce, versions } = transaction;
    const last = versions.at(-1)?.call;
    // What was estimated with the replaced transaction in the pending block can cost more without it.
    const call = newer !== null && last && last.gas > newer.gas ? { ...newer, gas: last.gas } : newer;
    const submitted = await submitter.replacement(nonce, call, transaction.fees, market);
    if (submitted === null) {
      logger.warn({ nonce }, "stuck: a replacement would cost more than maxFeePerGasGwei");
      return;
    }
    const { signed, submission } = submitted;
    const round = call?.round.toString();
    logger.info({ nonce, transaction: signed.hash, round, ...saidOf(submission) }, "replaced");
    if (submission.kind === "rejected") return;
    this.counts.replaced++;
    sent.replace(transaction, call, submitted, clock());
  }
}

function saidOf(submission: Submission): { readonly outcome: string; readonly reason?: string } {
  if (submission.kind === "accepted") return { outcome: "accepted" };
  return { outcome: submission.kind, reason: describeError(submission.error) };
}
