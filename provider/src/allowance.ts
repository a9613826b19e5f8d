import { LRUCache } from "lru-cache";

/** How much of something a caller may use: a sustained amount, and as much as `burst` at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** More than are used at the same time; the longest unused are forgotten. */
const MAX_ACCOUNTS = 10_000;

/**
 * Keeps an account for each id. It is charged afterwards, when the amount is known, so it may fall below nothing. Time
 * fills it again.
 */
export class Allowance {
  readonly #accounts = new LRUCache<string, { left: number; at: number }>({ max: MAX_ACCOUNTS });

  constructor(private readonly rate: Rate) {}

  /**
   * Returns after how many milliseconds an id may use more; 0 when it may now.
   *
   * @param now In milliseconds, by the same clock as in `spend`.
   * @param least How much must be left.
   */
  waitMs(id: string, now: number, least = 1): number {
    const missing = least - this.#leftOf(id, now);
    return missing <= 0 ? 0 : Math.ceil((missing / this.rate.perSecond) * 1_000);
  }

  spend(id: string, amount: number, now: number): void {
    this.#accounts.set(id, { left: this.#leftOf(id, now) - amount, at: now });
  }

  #leftOf(id: string, now: number): number {
    const { perSecond, burst } = this.rate;
    const account = this.#accounts.get(id);
    return account === undefined ? burst : Math.min(burst, account.left + ((now - account.at) / 1_000) * perSecond);
  }
}
