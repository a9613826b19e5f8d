import { describe, expect, test } from "vitest";
import { PRICE_DECIMALS, RandomWalk, type Volatility } from "./random-walk.js";

function prices(seed: number, pair: string, steps: number, volatility: Volatility = "volatile"): bigint[] {
  const walk = new RandomWalk(seed, pair, "3421.75", volatility);
  return Array.from({ length: steps }, () => {
    walk.step();
    return walk.price;
  });
}

describe("a walk", () => {
  test("begins exactly where it is told to", () => {
    expect(new RandomWalk(1, "ETH-USD", "3421.75").price).toBe(342175n * 10n ** BigInt(PRICE_DECIMALS - 2));
  });

  test.each([
    ["volatile", 1_400n],
    ["pegged", 200n],
  ] as const)("that is %s moves by at most %s millionths a step", (volatility, most) => {
    const walk = prices(3, "ETH-USD", 2_000, volatility);
    const moves = walk.slice(1).map((price, step) => {
      const before = walk[step] ?? 0n;
      return ((price > before ? price - before : before - price) * 1_000_000n) / before;
    });
    expect(moves.filter((move) => move > most)).toEqual([]);
    expect(moves.some((move) => move > 200n)).toBe(volatility === "volatile");
    expect(new Set(walk).size).toBeGreaterThan(1_900);
  });

  test("stays between half and double of its start for more than a day", () => {
    const start = new RandomWalk(5, "ETH-USD", "3421.75").price;
    const outside = prices(5, "ETH-USD", 100_000).filter((price) => price * 2n < start || price > start * 2n);
    expect(outside).toEqual([]);
  });
});
