/** Prices inside the market are integers with this many decimals, more than any exchange uses. */
export const PRICE_DECIMALS = 15;

/** The maximum move of a price in one step, in millionths. */
const STEP_PPM = 200;

/**
 * A random walk of one pair's price. It depends only on the seed, the pair and the number of steps, and stays between
 * half and twice its start.
 */
export class Walk {
  readonly #start: bigint;
  #price: bigint;
  #state: number;

  /** @param start Decimal text, with at most PRICE_DECIMALS decimals. */
  constructor(seed: number, pair: string, start: string) {
    this.#start = scale(start);
    this.#price = this.#start;
    this.#state = mix(seed, pair);
  }

  /** Scaled by PRICE_DECIMALS. */
  get price(): bigint {
    return this.#price;
  }

  /** Moves the price by one step. */
  step(): void {
    const drawn = BigInt((this.#draw() % (2 * STEP_PPM + 1)) - STEP_PPM);
    const next = this.#price + (this.#price * drawn) / 1_000_000n;
    if (next * 2n >= this.#start && next <= this.#start * 2n) this.#price = next;
  }

  /** Returns the next number of a xorshift sequence, from 1 to 2^32 - 1. */
  #draw(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    return x >>> 0;
  }
}

/**
 * Formats a scaled price with a fixed number of decimals, truncated.
 *
 * @param price Scaled by PRICE_DECIMALS.
 */
export function toText(price: bigint, decimals: number): string {
  const digits = (price / 10n ** BigInt(PRICE_DECIMALS - decimals)).toString().padStart(decimals + 1, "0");
  if (decimals === 0) return digits;
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

function scale(text: string): bigint {
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(PRICE_DECIMALS, "0"));
}

/** Hashes the seed and the pair with FNV-1a, so that each pair starts differently. Never 0, where xorshift would stay. */
function mix(seed: number, pair: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${seed}/${pair}`) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return hash === 0 ? 1 : hash;
}
