import { createHash } from "node:crypto";
import { type Choices, seededChoices } from "@dataset-oracle/tools/seeded-random";
import { parseUnits } from "viem";

/** Prices inside the market are integers with this many decimals, more than any exchange uses. */
export const PRICE_DECIMALS = 15;

/** The maximum move of a price in one step outside a jump, in millionths. */
const STEP_PPM = 200;

/** A pair jumps about every ten minutes. */
const STEPS_BETWEEN_JUMPS = 600;
/** A jump takes this many steps, so that sources that are read a second apart do not contradict each other. */
const JUMP_STEPS = 8;
/** The move of one step of a jump, in millionths: 0.64 to 0.96 % in all. */
const JUMP_PPM = { min: 800, max: 1_200 } as const;

/** How a price moves: `volatile` prices jump now and then, `pegged` ones do not. */
export type Volatility = "volatile" | "pegged";

/**
 * A random walk of one pair's price, with occasional jumps. It depends only on the seed, the pair and the number of
 * steps, and stays between half and twice its start.
 */
export class RandomWalk {
  readonly #start: bigint;
  #price: bigint;
  readonly #random: Choices;
  #jump = { stepsLeft: 0, ppm: 0 };

  /** @param start Decimal text, with at most PRICE_DECIMALS decimals. */
  constructor(
    seed: number,
    pair: string,
    start: string,
    private readonly volatility: Volatility = "volatile",
  ) {
    this.#start = parseUnits(start, PRICE_DECIMALS);
    this.#price = this.#start;
    // Each pair has a stream of its own, because pairs must not move in step.
    this.#random = seededChoices(seed, createHash("sha256").update(pair).digest().readInt32LE());
  }

  /** Scaled by ten to the power of PRICE_DECIMALS. */
  get price(): bigint {
    return this.#price;
  }

  /** Moves the price by one step. */
  step(): void {
    const drawn = this.#between(-STEP_PPM, STEP_PPM) + this.#jumped();
    const next = this.#price + (this.#price * BigInt(drawn)) / 1_000_000n;
    if (next * 2n >= this.#start && next <= this.#start * 2n) this.#price = next;
  }

  /** Returns the part of a step that belongs to a jump, in millionths. */
  #jumped(): number {
    if (this.volatility === "pegged") return 0;
    if (this.#jump.stepsLeft === 0) {
      if (this.#between(1, STEPS_BETWEEN_JUMPS) > 1) return 0;
      const direction = this.#between(0, 1) === 0 ? -1 : 1;
      this.#jump = { stepsLeft: JUMP_STEPS, ppm: direction * this.#between(JUMP_PPM.min, JUMP_PPM.max) };
    }
    this.#jump.stepsLeft--;
    return this.#jump.ppm;
  }

  /** Draws an integer; both bounds are possible. */
  #between(min: number, max: number): number {
    return min + this.#random.below(max - min + 1);
  }
}
