import type { FailureReason } from "@dataset-oracle/protocol/operator-problem";
import type { Context } from "@dataset-oracle/service/process/context";
import type { Address } from "viem";

/** A provider's answer that cannot be used. `detail` completes the sentence "The provider ...". */
export interface Failure {
  readonly kind: "failure";
  readonly provider: Address;
  /** Null when the operator has no endpoint for the provider, and for the reason `unexpected`. */
  readonly host: string | null;
  readonly reason: FailureReason;
  readonly detail: string;
  /** The code of the problem that the provider answered with; null if it did not. */
  readonly code: string | null;
  /**
   * Set when a provider that works refuses: a key that it does not serve, or this question, while it may answer one
   * about other keys. Null for every other failure.
   */
  readonly refuses: "key" | "question" | null;
}

/** Tells a failure from an answer that can be used. */
export const isFailure = (answer: { readonly kind: string }): answer is Failure => answer.kind === "failure";

export type Fail = (reason: FailureReason, detail: string) => Failure;

/**
 * A provider is named in the log after this many requests in a row without a usable answer, if they span this time too:
 * ten requests can be made in one second.
 */
const FAILURES_BEFORE_WARNING = 10;
const MS_BEFORE_WARNING = 60_000;

interface Streak {
  failures: number;
  /** In milliseconds, by the monotonic clock. */
  readonly since: number;
  /** Null while all of its answers were only slow, or at a limit. */
  reason: FailureReason | null;
  /** What the log says; null while it says nothing. */
  logged: FailureReason | null;
}

/** What whoever refuses a question has disproved. It may fail at all others still, and anyone can ask such a question. */
const DISPROVED: readonly (FailureReason | null | undefined)[] = ["no_endpoint", "unreachable", "certificate"];

/**
 * The providers whose last answers could not be used. It logs when a provider keeps failing or has no URL, again when it
 * fails for another reason, at most once a minute, and once when it answers again.
 */
export class ProviderFailures {
  readonly #streaks = new Map<Address, Streak>();
  /** When the log named a provider's failure last. */
  readonly #loggedAt = new Map<Address, number>();

  constructor(private readonly context: Pick<Context, "clock" | "logger">) {}

  /**
   * Records an answer. One that is only late, or at a limit that callers can use up, does not say why the provider fails.
   *
   * @param isOwn False for the answer to a caller, who may have chosen a source that takes long.
   */
  record(provider: Address, answer: { readonly kind: string } | Failure, isOwn: boolean): void {
    const known = this.#streaks.get(provider);
    if (!isFailure(answer) || answer.refuses !== null) {
      if (isFailure(answer) && !DISPROVED.includes(known?.reason)) return;
      this.#streaks.delete(provider);
      if (known?.logged) this.context.logger.info({ provider }, "a data provider answers again");
      return;
    }
    const { reason } = answer;
    if (reason === "not_asked") return;
    const lacksUrl = reason === "no_endpoint";
    const now = this.context.clock.monotonic();
    // Once the URL of a provider is known, its failures have another cause.
    const isNew = known === undefined || (known.reason === "no_endpoint" && !lacksUrl);
    const streak: Streak = isNew ? { failures: 0, since: now, reason: null, logged: null } : known;
    this.#streaks.set(provider, streak);
    const isSlow = reason === "late" || (reason === "timeout" && !isOwn);
    if (!isSlow && !answer.code?.startsWith("too_many_")) streak.reason = reason;
    streak.failures++;
    // A member that has just been added, or that has just announced itself, needs time until its URL is known.
    const isLasting =
      now - streak.since >= MS_BEFORE_WARNING && (streak.failures >= FAILURES_BEFORE_WARNING || lacksUrl);
    // A certificate is not accepted at the next attempt either.
    if (isLasting || reason === "certificate") this.#log(answer, streak, now);
  }

  #log({ provider, host, reason, detail }: Failure, streak: Streak, now: number): void {
    const { logger } = this.context;
    const { logged, failures } = streak;
    const isNews = logged === null || (logged !== reason && reason !== "late");
    if (!isNews || now - (this.#loggedAt.get(provider) ?? -Infinity) < MS_BEFORE_WARNING) return;
    this.#loggedAt.set(provider, now);
    streak.logged = reason;
    const fields = { provider, host, reason, detail };
    if (reason === "no_endpoint")
      logger.warn(fields, "a member of the committee cannot be asked: no URL of it is known");
    else if (reason === "certificate")
      logger.warn(fields, "a data provider cannot be asked: its certificate is refused");
    // A provider that hangs counts as late whenever the others suffice without it.
    else if (reason === "late")
      logger.warn({ ...fields, failures }, "a data provider answers too late to be counted, or not at all");
    else logger.warn({ ...fields, failures }, "a data provider keeps failing: its answers cannot be used");
  }

  /**
   * Returns why a provider's last answer could not be used; null if it could, or if none was asked for. One that was slow,
   * or at a limit, fails once the log says so.
   */
  reasonOf(provider: Address): FailureReason | null {
    const streak = this.#streaks.get(provider);
    return streak?.reason ?? streak?.logged ?? null;
  }
}
