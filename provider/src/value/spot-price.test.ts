import { ok } from "@dataset-oracle/protocol/result";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failed, type Reading, throttled } from "../source/source-failure.js";
import type { QuotedValue, SpotSourceSpec } from "../source/spot-source.js";
import { type SourceUse, toUse } from "./combined-value.js";
import { decidePrice, fetchQuotes, multiply, type PairSource, type PricePolicy } from "./spot-price.js";

const POLICY: PricePolicy = { minSources: 2, maxDeviationBps: 200, maxQuoteAge: 60 };
const CALLER = { id: "127.0.0.1", mayUseReserve: false };
const AT = 1_800_000_000n;
const E18 = 10n ** 18n;

const quoted = (source: string, price: bigint, age: bigint | null = null) =>
  toUse(source, ok({ value: price, quotedAt: age === null ? null : AT - age }));

function decide(answers: readonly SourceUse[], policy: Partial<PricePolicy> = {}) {
  const decision = decidePrice(answers, { policy: { ...POLICY, ...policy }, at: AT });
  const dropped = decision.sources.flatMap(({ source, dropped }) =>
    dropped === null ? [] : `${source} ${dropped.code}`,
  );
  return { kind: decision.kind, price: decision.kind === "value" ? decision.value : null, dropped };
}

test.each<[what: string, age: bigint | null, dropped: string[]]>([
  ["the bound", 60n, []],
  ["one second more", 61n, ["a too_old"]],
  ["as far in the future", -60n, []],
  ["one second further", -61n, ["a from_the_future"]],
  ["unknown", null, []],
])("the age of a quote may be %s: %s", (_, age, dropped) => {
  // The lower of two, if one is dropped, is the middle of three too.
  const decided = decide([quoted("a", 100n, age), quoted("b", 101n), quoted("c", 102n)]);
  expect(decided).toEqual({ kind: "value", price: 101n, dropped });
});

describe("an outlier", () => {
  test("is measured against the median of those that are fresh", () => {
    const stale = ["a", "b", "c"].map((name) => quoted(name, 5_000n, 999n));
    expect(decide([...stale, quoted("d", 10_000n), quoted("e", 10_001n)])).toEqual({
      ...{ kind: "value", price: 10_000n },
      dropped: ["a too_old", "b too_old", "c too_old"],
    });
  });

  test("lies further from the median than the bound, in either direction", () => {
    const others = [quoted("b", 10_000n), quoted("c", 10_000n)];
    for (const price of [9_800n, 10_200n]) expect(decide([quoted("a", price), ...others]).dropped).toEqual([]);
    for (const price of [9_799n, 10_201n]) {
      expect(decide([quoted("a", price), ...others])).toEqual({
        kind: "value",
        price: 10_000n,
        dropped: ["a outlier"],
      });
    }
  });

  test("does not count for the number that is needed: two that disagree are no price", () => {
    expect(decide([quoted("a", 100n), quoted("b", 200n)])).toEqual({
      kind: "none",
      price: null,
      dropped: ["b outlier"],
    });
  });
});

test("fewer than half of the sources cannot move the price out of the honest range", () => {
  const honest = fc.bigInt({ min: 10_000n, max: 10_100n });
  fc.assert(
    fc.property(
      fc.array(honest, { minLength: 2, maxLength: 6 }),
      fc.array(fc.bigInt({ min: 1n, max: 10n ** 60n })),
      (good, bad) => {
        const lies = bad.slice(0, good.length - 1);
        const answers = [
          ...good.map((price, i) => quoted(`good${i}`, price)),
          ...lies.map((price, i) => quoted(`bad${i}`, price)),
        ];
        const { price } = decide(answers);
        if (price === null) return;
        const sorted = good.toSorted((a, b) => (a < b ? -1 : 1));
        expect(price >= (sorted[0] ?? 0n) && price <= (sorted.at(-1) ?? 0n)).toBe(true);
      },
    ),
  );
});

describe("too few", () => {
  test("is no price when sources failed, and busy when enough of them may still have one", () => {
    const down = toUse("a", failed("timeout", "no answer"));
    const busy = toUse("b", throttled("used up", 7));
    expect(decide([down, quoted("c", 100n)]).kind).toBe("none");
    expect(decide([down])).toEqual({ kind: "none", price: null, dropped: ["a timeout"] });
    expect(decide([busy, quoted("c", 100n)]).kind).toBe("busy");
    expect(decide([busy, down]).kind).toBe("none");
    expect(decide([busy, quoted("c", 100n)], { minSources: 1 }).kind).toBe("value");
  });
});

describe("a converted price", () => {
  test("is the product, rounded to the nearest, ties to even, exactly", () => {
    expect(multiply(2_000n * E18, 999_850_000_000_000_000n)).toBe(1_999_700_000_000_000_000_000n);
    expect(multiply(1n, E18 / 2n)).toBe(0n);
    expect(multiply(3n, E18 / 2n)).toBe(2n);
    expect(multiply(1n, E18 / 2n + 1n)).toBe(1n);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 208n }), fc.bigInt({ min: 0n, max: 2n * E18 }), (price, rate) => {
        const rest = price * rate - multiply(price, rate) * E18;
        expect(rest * 2n <= E18 && rest * 2n >= -E18).toBe(true);
        if (rest * 2n === E18 || rest * 2n === -E18) expect(multiply(price, rate) % 2n).toBe(0n);
      }),
    );
  });

  const source = (name: string, reading: Reading<QuotedValue>, rate: PairSource["rate"] = null): PairSource => ({
    name,
    spec: {} as SpotSourceSpec,
    request: {
      method: "GET",
      url: `https://${name}.example.com/`,
      rateLimit: null,
      source: { name, findError: () => null },
    },
    read: () => reading,
    rate,
  });
  const reader = { read: async () => ok({ document: null, text: "null" }) };
  const ask = async (
    rates: PairSource[],
    reading: Reading<QuotedValue> = ok({ value: 2_000n * E18, quotedAt: AT }),
  ) => {
    const tether = source("tether", reading, { pair: "USDT-USD", sources: rates });
    const [only] = await fetchQuotes([tether], { reader, caller: CALLER, policy: POLICY, at: AT });
    return only;
  };
  const rate = (name: string, price: bigint, age = 0n) => source(name, ok({ value: price, quotedAt: AT - age }));

  test("uses the median of the rates, by the same rules", async () => {
    const rates = [
      rate("a", E18),
      rate("b", (E18 * 9n) / 10n),
      rate("c", (E18 * 999n) / 1_000n),
      rate("d", E18 / 2n, 99n),
    ];
    // The median of 1, 0.9 and 0.999 is 0.999; without the outlier 0.9 it is the lower of 0.999 and 1.
    expect(await ask(rates)).toMatchObject({ quote: { value: 1_998n * E18, quotedAt: AT }, dropped: null });
  });

  test("does not count if there is none, or it is 0", async () => {
    const rates = [rate("a", E18), rate("b", E18)];
    expect(await ask(rates, failed("timeout", "no answer"))).toMatchObject({ dropped: { code: "timeout" } });
    expect(await ask(rates, ok({ value: 0n, quotedAt: AT }))).toMatchObject({ dropped: { code: "zero" } });
  });

  test("shares its rate with the others of the pair", async () => {
    const asked: string[] = [];
    const reader = { read: async ({ url }: { url: string }) => ok({ document: asked.push(url), text: "null" }) };
    const price = ok({ value: E18, quotedAt: AT });
    const converted = ["x", "y"].map((name) => source(name, price, { pair: "USDT-USD", sources: [rate("a", E18)] }));
    await fetchQuotes(converted, { reader, caller: CALLER, policy: POLICY, at: AT });
    expect(asked.filter((url) => url.includes("//a."))).toHaveLength(1);
  });

  test("does not count without a rate, and waits for one that can still be had", async () => {
    expect(await ask([rate("a", E18), source("b", failed("timeout", "no answer"))])).toMatchObject({
      dropped: { code: "no_rate" },
    });
    expect(await ask([rate("a", E18), source("b", throttled("used up", 3))])).toMatchObject({
      dropped: { code: "throttled", retryAfter: 3 },
    });
  });
});
