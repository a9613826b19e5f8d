/** Prices inside the market are integers scaled by this many decimals, which is more than any exchange spells. */
export const PRICE_DECIMALS = 15;

/** The most that a price moves in one step, in millionths. */
const STEP_PPM = 200;

/**
 * A seeded random walk of one pair's price. It depends on the seed, the pair and the count of steps alone, and stays
 * between half and double of where it began.
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

  /** The next of a xorshift sequence: 1 to 2^32 - 1. */
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
 * A scaled price as decimal text with a fixed number of decimals, the rest cut off.
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

/** FNV-1a over the seed and the pair: a start of its own for each pair, never 0, where xorshift would stand still. */
function mix(seed: number, pair: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${seed}/${pair}`) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return hash === 0 ? 1 : hash;
}
