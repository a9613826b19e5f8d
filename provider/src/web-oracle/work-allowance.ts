import { LRUCache } from "lru-cache";

/** How much work someone may cause: a sustained amount, and as much as `burst` at once. */
export interface WorkRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** More than cause work at the same time; those that caused none for the longest time are forgotten. */
const MAX_ACCOUNTS = 10_000;

/**
 * Keeps an account of work for each id. Work is paid afterwards, when its amount is known, so an account may fall below
 * nothing. It is refilled with time.
 */
export class WorkAllowance {
  readonly #rate: WorkRate;
  readonly #accounts = new LRUCache<string, { left: number; at: number }>({ max: MAX_ACCOUNTS });

  constructor(rate: WorkRate) {
    this.#rate = rate;
  }

  /**
   * Returns after how many milliseconds an id may cause further work; 0 when it may now.
   *
   * @param now In milliseconds, by the same clock as in `spend`.
   * @param reserve A part of the burst that this work may not use.
   */
  waitMs(id: string, now: number, reserve = 0): number {
    const missing = reserve - this.#leftOf(id, now);
    return missing < 0 ? 0 : Math.ceil(((missing + 1) / this.#rate.perSecond) * 1_000);
  }

  spend(id: string, work: number, now: number): void {
    this.#accounts.set(id, { left: this.#leftOf(id, now) - work, at: now });
  }

  #leftOf(id: string, now: number): number {
    const { perSecond, burst } = this.#rate;
    const account = this.#accounts.get(id);
    return account === undefined ? burst : Math.min(burst, account.left + ((now - account.at) / 1_000) * perSecond);
  }
}
