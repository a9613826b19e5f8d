import type { Hex } from "viem";
import { Random } from "./random.js";

/** Between two moves of a price, on average. */
const MOVE_SECONDS = 150;
const UNIT = 1_000_000_000_000n;

/** The true price of each key at each second: it moves by steps, and does not trouble those who do not ask for it. */
export class PriceModel {
  readonly #steps = new Map<Hex, { readonly from: number; readonly price: number }[]>();

  /**
   * @param startSeconds The first moment that has a price, in seconds since 1970.
   * @param together Keys whose prices are the same at any time, so that they become due together.
   */
  constructor(
    private readonly seed: number,
    private readonly startSeconds: number,
    private readonly together: readonly Hex[] = [],
  ) {}

  /** The price of a key at a second since 1970, scaled by 1e18. */
  priceOf(key: Hex, second: number): bigint {
    const steps = this.#stepsUntil(key, second);
    const at = steps.findLast(({ from }) => from <= second) ?? steps[0];
    // A ripple far below every deviation threshold.
    const ripple = 1 + 0.0002 * Math.sin(second / 17);
    return BigInt(Math.round((at?.price ?? 1) * ripple * 1e6)) * UNIT;
  }

  /** Since when the price has been what it is at a second, but for the ripple; in seconds since 1970. */
  movedAt(key: Hex, second: number): number {
    return this.#stepsUntil(key, second).findLast(({ from }) => from <= second)?.from ?? this.startSeconds;
  }

  #stepsUntil(of: Hex, second: number) {
    const key = this.together.includes(of) ? (this.together[0] ?? of) : of;
    const known = this.#steps.get(key) ?? [];
    if (known.length === 0) {
      this.#steps.set(key, known);
      this.#random.set(key, new Random(this.seed, `price of ${key}`));
      known.push({ from: this.startSeconds - 1_000, price: 1_000 });
    }
    const random = this.#random.get(key) as Random;
    for (let last = known.at(-1); last !== undefined && last.from <= second; last = known.at(-1)) {
      const from = last.from + 1 + Math.floor(random.between(0, 2 * MOVE_SECONDS));
      const factor = 1 + random.between(0.002, 0.02) * (random.chance(0.5) ? 1 : -1);
      known.push({ from, price: last.price * factor });
    }
    return known;
  }
  readonly #random = new Map<Hex, Random>();
}
