import { setTimeout as delay } from "node:timers/promises";
import { postText } from "@dataset-oracle/service/http-client/trusted-request";
import type { Logger } from "pino";
import type { Alert } from "./alert.js";

const LIMITS = { timeoutMs: 5_000, maxBytes: 64 * 1024 };
/** The pauses before the retries of an alert. If the last retry fails too, the alert is dropped. */
const RETRY_MS = [1_000, 10_000, 60_000];
/** The maximum number of alerts that wait while an earlier one is sent. Above it, the oldest are dropped. */
const MAX_WAITING = 100;

/** One configured address, to which every alert is posted, one after the other. */
export class Webhook {
  #waiting: Alert[] = [];
  #isSending = false;

  /**
   * @param url May contain a token, so it is never logged.
   * @param logger Names the webhook by its index in the configuration.
   */
  constructor(
    private readonly url: string,
    private readonly logger: Logger,
    private readonly closing: AbortSignal,
    private readonly retryMs: readonly number[] = RETRY_MS,
  ) {}

  send(alert: Alert): void {
    this.#waiting.push(alert);
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting.shift();
      this.logger.warn("an alert was dropped: too many are waiting for this webhook");
    }
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let next = this.#waiting.shift(); next && !this.closing.aborted; next = this.#waiting.shift()) {
      await this.#deliver(next);
    }
    this.#isSending = false;
  }

  async #deliver(alert: Alert): Promise<void> {
    for (const pauseMs of [...this.retryMs, null]) {
      const reason = await this.#post(alert);
      if (reason === null || this.closing.aborted) return;
      if (pauseMs === null)
        return this.logger.warn(
          { reason, alert: alert.id },
          "an alert was dropped: the webhook did not accept it; check its URL",
        );
      await delay(pauseMs, undefined, { signal: this.closing, ref: false }).catch(() => {});
    }
  }

  /** @returns Null if it was taken, else the reason why not, without the URL. */
  async #post(alert: Alert): Promise<string | null> {
    const answer = await postText(this.url, {}, JSON.stringify(alert), LIMITS, this.closing);
    // The detail of a failure could name the host.
    if (!answer.ok) return answer.error.code;
    const { status } = answer.value;
    return status >= 200 && status < 300 ? null : `HTTP ${status}`;
  }
}
