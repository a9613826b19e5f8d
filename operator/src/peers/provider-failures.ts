import type { Logger } from "pino";
import type { Address } from "viem";
import { type Failure, type FailureReason, isFailure } from "../update/ask-provider.js";

/** After this many requests in a row without a usable answer, a provider is named in the log. */
const FAILURES_BEFORE_WARNING = 10;

interface Streak {
  failures: number;
  /** Null while all of its answers were only late. */
  reason: FailureReason | null;
  isReported: boolean;
}

/**
 * The providers whose last answers could not be used. It logs once when a provider keeps failing or has no URL, and once
 * when it answers again.
 */
export class ProviderFailures {
  readonly #streaks = new Map<Address, Streak>();

  constructor(private readonly logger: Logger) {}

  /** Takes note of an answer. One that came after the others were enough does not tell why the provider fails. */
  record(provider: Address, answer: { readonly kind: string } | Failure): void {
    const streak = this.#streaks.get(provider) ?? { failures: 0, reason: null, isReported: false };
    if (!isFailure(answer) || answer.refuses !== null) {
      this.#streaks.delete(provider);
      if (streak.isReported) this.logger.info({ provider }, "a data provider answers again");
      return;
    }
    this.#streaks.set(provider, streak);
    const { host, reason, detail } = answer;
    if (reason !== "late") streak.reason = reason;
    const failures = ++streak.failures;
    const lacksUrl = reason === "no_endpoint";
    if (streak.isReported || (failures < FAILURES_BEFORE_WARNING && !lacksUrl)) return;
    streak.isReported = true;
    const fields = { provider, host, reason, detail };
    if (lacksUrl) this.logger.warn(fields, "a member of the committee cannot be asked: no URL of it is known");
    else this.logger.warn({ ...fields, failures }, "a data provider keeps failing: its answers cannot be used");
  }

  /** Returns why a provider's last answer could not be used; null if it could, or if none was asked for. */
  reasonOf(provider: Address): FailureReason | null {
    return this.#streaks.get(provider)?.reason ?? null;
  }
}
