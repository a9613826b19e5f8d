import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@dataset-oracle/tools/repository-root";
import { expect, test } from "vitest";
import { EXCHANGES } from "../exchange-origins.js";
import { MARKET_PAIRS, USDT_USD } from "./pairs.js";
import { PRICE_DECIMALS } from "./random-walk.js";
import { formatPrice, SimulatedPrices } from "./simulated-prices.js";

/** The devnet's own seed and tolerance (`start-services.ts`, `script/config/42.json`). */
const SEED = 42;
const TOLERANCE_BPS = 100;

/** The exchanges that quote in USDT, not in US dollars. */
const IN_USDT = EXCHANGES.filter((name) => {
  const file = readFileSync(join(ROOT, "provider/sources", `${name}.json`), "utf8");
  return JSON.parse(file).convert?.USD === "USDT";
});

/** Returns what an exchange's price of a pair is worth in the pair's own quote. */
function worth(prices: SimulatedPrices, exchange: string, pair: string): number {
  if (!IN_USDT.includes(exchange) || !pair.endsWith("-USD")) return Number(prices.quote(exchange, pair)?.last);
  const rate = Number(prices.quote("coinbase", USDT_USD.pair)?.last);
  return Number(prices.quote(exchange, `${pair}T`)?.last) * rate;
}

const bps = (from: number, to: number) => (Math.abs(to - from) / from) * 10_000;

test("all exchanges' prices of a pair, read at most two seconds apart, agree within the dataset's tolerance", () => {
  const prices = new SimulatedPrices(SEED, MARKET_PAIRS);
  const ranges = new Map<string, { low: number; high: number }[]>(MARKET_PAIRS.map(({ pair }) => [pair, []]));
  let widest = 0;
  for (let second = 1; second <= 3 * 60; second++) {
    prices.step();
    for (const [pair, recent] of ranges) {
      const worths = EXCHANGES.map((exchange) => worth(prices, exchange, pair));
      recent.push({ low: Math.min(...worths), high: Math.max(...worths) });
      if (recent.length > 3) recent.shift();
      const low = Math.min(...recent.map((range) => range.low));
      widest = Math.max(widest, bps(low, Math.max(...recent.map((range) => range.high))));
    }
  }
  expect(widest).toBeLessThan(TOLERANCE_BPS);
});

test("a price's text has exactly the decimals asked for, and no more digits than that", () => {
  const price = 24_710_000_000n;
  expect(formatPrice(price, 8)).toBe("0.00002471");
  expect(formatPrice(price, 9)).toBe("0.000024710");
  expect(formatPrice(price, 0)).toBe("0");
  expect(formatPrice(67_012n * 10n ** BigInt(PRICE_DECIMALS), 0)).toBe("67012");
});

test("exchanges, and two answers of one exchange, differ by a few basis points, from the seed alone", () => {
  const read = (seed: number) => {
    const prices = new SimulatedPrices(seed, MARKET_PAIRS);
    return EXCHANGES.map((exchange) => [1, 2, 3].map(() => worth(prices, exchange, "BTC-USD")));
  };
  const answers = read(SEED);
  expect(read(SEED)).toEqual(answers);
  expect(read(SEED + 1)).not.toEqual(answers);
  for (const [first = 0, second = 0, third = 0] of answers) {
    expect(new Set([first, second, third]).size).toBe(3);
    expect(bps(Math.min(first, second, third), Math.max(first, second, third))).toBeLessThan(5);
  }
  const all = answers.flat();
  expect(bps(Math.min(...all), Math.max(...all))).toBeGreaterThan(2);
  expect(bps(Math.min(...all), Math.max(...all))).toBeLessThan(10);
});
