import type { Logger } from "pino";
import type { Clock } from "../context.js";
import { describeError } from "../rpc/rpc-error.js";
import type { NetworkFees } from "./fees.js";
import type { RoundCall } from "./job.js";
import type { ReplacementContent } from "./plan.js";
import type { InFlightTransactions, Renewal, Transaction } from "./queue-state.js";
import type { SubmissionResult, Submitter } from "./submitter.js";

const HOUR_MS = 3_600_000;

interface StuckNoncesParts {
  readonly submitter: Submitter;
  readonly inFlight: InFlightTransactions;
  /** The maximum number of nonces per hour that are cancelled although none of the queue's updates had them. */
  readonly maxCancelsPerHour: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when a newer round that was asked for has been built, or cannot be. */
  readonly onRenewed: () => void;
}

/** Gets nonces moving that do not advance: submits the same transaction again, replaces it, or fills a gap. */
export class StuckNonces {
  readonly #parts: StuckNoncesParts;
  #cancelledAt: number[] = [];
  readonly counts = { replaced: 0, cancelled: 0, rebroadcast: 0 };

  constructor(parts: StuckNoncesParts) {
    this.#parts = parts;
  }

  /**
   * Uses up a nonce that none of the queue's transactions has, with an empty transfer. The number of these is limited,
   * because an RPC node's false transaction counts can look like gaps.
   */
  async cancel(nonce: number, networkFees: NetworkFees): Promise<void> {
    const { clock, logger, maxCancelsPerHour } = this.#parts;
    this.#cancelledAt = this.#cancelledAt.filter((at) => at > clock() - HOUR_MS);
    if (this.#cancelledAt.length >= maxCancelsPerHour) {
      logger.warn(
        { nonce, maxCancelsPerHour },
        "a nonce gap stays open: the limit of cancellations per hour is reached",
      );
      return;
    }
    if (await this.#submit(nonce, null, null, networkFees)) this.#cancelledAt.push(clock());
  }

  /** Submits a transaction again that the node does not show. */
  async rebroadcast(transaction: Transaction, networkFees: NetworkFees): Promise<void> {
    const { submitter, inFlight, clock, logger } = this.#parts;
    const version = transaction.versions.at(-1);
    if (version === undefined) return;
    const { raw, hash } = version;
    // Only an earlier process had the signed transaction, so another one has to take its place.
    if (raw === null) return this.replace(transaction, "newest", networkFees);
    const result = await submitter.rebroadcast(raw, hash);
    this.counts.rebroadcast++;
    logger.info({ nonce: transaction.nonce, transaction: hash, ...logFields(result) }, "rebroadcast");
    inFlight.put({ ...transaction, isAccepted: result.kind === "accepted", submittedAt: clock() });
  }

  /** Replaces a transaction that is stuck or gone. Where that needs the newest round, it does so once that is built. */
  async replace(transaction: Transaction, content: ReplacementContent, networkFees: NetworkFees): Promise<void> {
    const call = content === "newest" ? this.#newestCall(transaction) : this.#sameCall(transaction, content);
    if (call === "later") return;
    await this.#submit(transaction.nonce, transaction, call, networkFees);
  }

  /** Returns the newest round once it is built; if it cannot be, the same call; null if the chain has a newer one. */
  #newestCall(transaction: Transaction): RoundCall | null | "later" {
    const { inFlight, logger, onRenewed } = this.#parts;
    const { task, renewal } = transaction;
    if (task === null || renewal?.result === "stored") return null;
    if (renewal?.result === "failed") return this.#sameCall(transaction, "same");
    if (renewal !== null) return renewal.result === "running" ? "later" : renewal.result;
    const started: Renewal = { result: "running" };
    inFlight.put({ ...transaction, renewal: started });
    void task
      .renew()
      .then((call) => {
        started.result = call ?? "stored";
      })
      .catch((error: unknown) => {
        started.result = "failed";
        logger.warn(
          { reason: describeError(error) },
          "the newest round could not be built; the same call is submitted again",
        );
      })
      .finally(onRenewed);
    return "later";
  }

  /** Returns the last version's call; null for a cancellation, and when its round is too old. */
  #sameCall({ versions }: Transaction, content: Exclude<ReplacementContent, "newest">): RoundCall | null {
    const call = content === "cancel" ? null : (versions.at(-1)?.call ?? null);
    return call === null || this.#parts.clock() >= call.expiresAt ? null : call;
  }

  /**
   * @param before The transaction that has the nonce; null where it is a gap, or a foreign transaction has it.
   * @returns False when nothing was submitted.
   */
  async #submit(
    nonce: number,
    before: Transaction | null,
    newer: RoundCall | null,
    networkFees: NetworkFees,
  ): Promise<boolean> {
    const { submitter, inFlight, clock, logger } = this.#parts;
    const last = before?.versions.at(-1)?.call;
    // The gas was estimated with the replaced transaction in the pending block. Without it, the call can cost more.
    const call = newer !== null && last && last.gas > newer.gas ? { ...newer, gas: last.gas } : newer;
    const submission = await submitter.replace(nonce, call, before?.fees ?? null, networkFees);
    if (submission === null) {
      logger.warn({ nonce }, "stuck: a replacement would cost more than maxFeePerGasGwei or maxPriorityFeePerGasGwei");
      return false;
    }
    const { hash, result } = submission;
    logger.info(
      { nonce, transaction: hash, round: call?.round.toString(), ...logFields(result) },
      call === null ? "cancelled" : "replaced",
    );
    if (result.kind === "rejected") return false;
    this.counts[call === null ? "cancelled" : "replaced"]++;
    inFlight.add(nonce, before?.task ?? null, call, submission, clock());
    return true;
  }
}

function logFields(result: SubmissionResult): { readonly outcome: string; readonly reason?: string } {
  if (result.kind === "accepted") return { outcome: "accepted" };
  return { outcome: result.kind, reason: describeError(result.error) };
}
