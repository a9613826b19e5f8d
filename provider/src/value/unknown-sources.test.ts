import { ok } from "@dataset-oracle/protocol/result";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { failed, notAsked, type Reading, throttled } from "../source/source-failure.js";
import type { QuotedValue, SpotSourceSpec } from "../source/spot-source.js";
import { type CombinedValue, combine, toUse } from "./combined-value.js";
import { decidePrice, multiply, type PairSource, type PricePolicy, readSpotPrice } from "./spot-price.js";

/** What a source says: a value, `failed` and `throttled` when it was asked in vain, or `unknown` when it was not. */
type Said = bigint | "failed" | "throttled" | "unknown";

const E18 = 10n ** 18n;
const AT = 1_800_000_000n;

const readingOf = (said: Said): Reading<bigint> => {
  if (typeof said === "bigint") return ok(said);
  if (said === "failed") return failed("http_status", "answered HTTP 404");
  return said === "throttled" ? throttled("HTTP 429", 7) : notAsked("its rate limit is used up", 3);
};

/** Lists all that sources may have said, given what each unknown one may. */
function completionsOf(said: readonly Said[], possible: readonly Said[]): Said[][] {
  return said.reduce<Said[][]>(
    (all, one) => all.flatMap((before) => (one === "unknown" ? possible : [one]).map((more) => [...before, more])),
    [[]],
  );
}

/** The part of an outcome that a decision contains. */
const bytesOf = (outcome: CombinedValue): string =>
  outcome.kind === "value" ? outcome.value.toString() : outcome.kind;

/** Returns the outcomes of all completions. */
const outcomesOf = (
  said: readonly Said[],
  possible: readonly Said[],
  decide: (said: readonly Said[]) => CombinedValue,
) => new Set(completionsOf(said, possible).map((all) => bytesOf(decide(all))));

/** What sources say: at most three are unknown, because brute force tries all that they could say. */
const saying = (values: readonly bigint[], maxLength = 7) =>
  fc
    .array(fc.constantFrom<Said>(...values, ...values, "failed", "throttled", "unknown"), { minLength: 1, maxLength })
    .filter((said) => said.filter((one) => one === "unknown").length <= 3);

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => BigInt(from + i));

describe("with sources that were not asked, a value of a published spec", () => {
  // All orders of the known values and of all that could be below, between and above them.
  const possible: Said[] = ["failed", ...range(0, 7)];
  test.each(["median", "majority", "equal"] as const)(
    "by %s is decided only if it is the same whatever they say",
    (how) => {
      const decided = new Set<string>();
      fc.assert(
        fc.property(saying([0n, 3n, 5n]), fc.integer({ min: 1, max: 4 }), (said, minSources) => {
          const decide = (all: readonly Said[]) => combine(all.map(readingOf), minSources, how);
          const outcome = bytesOf(decide(said));
          const outcomes = outcomesOf(said, possible, decide);
          if (outcome !== "busy") expect([...outcomes]).toEqual([outcome]);
          // Where there are enough values, it is decided whenever it can be.
          else if (said.filter((one) => typeof one === "bigint").length >= minSources)
            expect(outcomes.size).toBeGreaterThan(1);
          if (said.includes("unknown")) decided.add(outcome);
        }),
        { numRuns: 400, seed: 1 },
      );
      expect(decided.has("busy")).toBe(true);
      // Some values stand whatever the unknown sources say, except where all must agree.
      expect(["0", "3", "5"].some((value) => decided.has(value))).toBe(how !== "equal");
    },
  );
});

describe("with sources that were not asked, a spot price", () => {
  const policy: PricePolicy = { minSources: 2, maxDeviationBps: 1_000, maxQuoteAge: 60 };
  const decideBy = (minSources: number) => (said: readonly Said[]) => {
    const uses = said.map((one, i) => {
      const reading = readingOf(one);
      return toUse(`${i}`, reading.ok ? ok({ value: reading.value, quotedAt: null }) : reading);
    });
    return decidePrice(uses, { policy: { ...policy, minSources }, at: AT });
  };

  test("is decided only if it is the same whatever they say, outliers or not", () => {
    const decided = new Set<string>();
    // Each pair within 10% of each other, and pairs that are not.
    const known = [100n, 100n, 105n, 112n, 200n];
    const possible: Said[] = ["failed", 1n, 80n, 95n, 100n, 103n, 105n, 108n, 112n, 120n, 150n, 200n, 210n, 900n];
    fc.assert(
      fc.property(saying(known), fc.integer({ min: 1, max: 4 }), (said, minSources) => {
        const decide = decideBy(minSources);
        const outcome = bytesOf(decide(said));
        if (outcome === "busy") return;
        expect([...outcomesOf(said, possible, decide)]).toEqual([outcome]);
        if (said.includes("unknown")) decided.add(outcome);
      }),
      { numRuns: 1_000, seed: 1 },
    );
    expect(decided).toContain("100");
    expect(decided).toContain("none");
  });

  test("is decided whenever it is the same whatever they say, among quotes that are no outliers to each other", () => {
    const possible: Said[] = ["failed", ...range(98, 108)];
    fc.assert(
      fc.property(saying([100n, 103n, 105n]), fc.integer({ min: 1, max: 4 }), (said, minSources) => {
        const decide = decideBy(minSources);
        const outcomes = outcomesOf(said, possible, decide);
        expect(bytesOf(decide(said))).toBe(outcomes.size === 1 ? [...outcomes][0] : "busy");
      }),
      { numRuns: 400, seed: 1 },
    );
  });

  /** What an exchange says of a pair and of the rate that some pairs are converted by; both come in one answer. */
  interface SourceExchange {
    readonly isConverted: boolean;
    readonly price: Said;
    readonly rate: Said;
    readonly answer: "known" | "unknown";
  }
  const PRICES = [3000n, 3000n, 3001n, 2955n].map((price) => price * E18);
  const RATES = [E18, E18, (E18 * 985n) / 1_000n];
  const anExchange: fc.Arbitrary<SourceExchange> = fc.record({
    isConverted: fc.boolean(),
    price: fc.constantFrom<Said>(...PRICES, "failed"),
    rate: fc.constantFrom<Said>(...RATES, "failed"),
    answer: fc.constantFrom("known", "known", "known", "unknown"),
  });

  async function read(exchanges: readonly SourceExchange[], minSources: number): Promise<string> {
    const source = (i: number, said: Said, rate: PairSource["rate"]): PairSource => ({
      name: `${i}`,
      spec: {} as SpotSourceSpec,
      request: {
        ...{ method: "GET", url: `https://x${i}.example.com/`, rateLimit: null },
        source: { name: `${i}`, findError: () => null },
      },
      read: (): Reading<QuotedValue> => {
        const reading = readingOf(said);
        return reading.ok ? ok({ value: reading.value, quotedAt: null }) : reading;
      },
      rate,
    });
    const direct = exchanges.flatMap(({ isConverted, rate }, i) => (isConverted ? [] : [source(i, rate, null)]));
    const sources = exchanges.map(({ isConverted, price }, i) =>
      source(i, price, isConverted ? { pair: "USDT-USD", sources: direct } : null),
    );
    const reader = {
      read: async ({ url }: { readonly url: string }) =>
        exchanges[Number(/\d+/.exec(url)?.[0])]?.answer === "unknown"
          ? notAsked("its rate limit is used up", 3)
          : ok({ document: null, text: "null" }),
    };
    const caller = { id: "203.0.113.9", mayUseReserve: false };
    const context = { reader, caller, policy: { ...policy, minSources, maxDeviationBps: 200 }, at: AT };
    return bytesOf(await readSpotPrice(sources, context));
  }

  /** The exchanges with all that the unknown ones could answer, rates included. */
  function completions(exchanges: readonly SourceExchange[]): SourceExchange[][] {
    const prices: Said[] = ["failed", ...PRICES.slice(1), 2990n * E18, 3100n * E18];
    const rates: Said[] = ["failed", ...RATES.slice(1), (E18 * 101n) / 100n];
    return exchanges.reduce<SourceExchange[][]>(
      (all, one) =>
        all.flatMap((before) => {
          if (one.answer === "known") return [[...before, one]];
          const possible = prices.flatMap((price) =>
            (one.isConverted ? ["failed" as const] : rates).map((rate) => ({ price, rate })),
          );
          return possible.map((more) => [...before, { ...one, ...more, answer: "known" as const }]);
        }),
      [[]],
    );
  }

  test("is decided only if it is the same whatever they say of the pair and of its rate", async () => {
    const decided = new Set<string>();
    const some = fc
      .array(anExchange, { minLength: 3, maxLength: 8 })
      .filter((all) => all.filter(({ answer }) => answer === "unknown").length <= 2);
    await fc.assert(
      fc.asyncProperty(some, fc.integer({ min: 1, max: 3 }), async (exchanges, minSources) => {
        const outcome = await read(exchanges, minSources);
        if (outcome === "busy") return;
        const outcomes = new Set<string>();
        for (const all of completions(exchanges)) outcomes.add(await read(all, minSources));
        expect([...outcomes]).toEqual([outcome]);
        if (exchanges.some(({ answer }) => answer === "unknown")) decided.add(outcome);
      }),
      { numRuns: 300, seed: 1 },
    );
    expect(decided).toContain((3000n * E18).toString());
  });

  test("is not decided by one thin market of the rate while the others were not asked", async () => {
    const converted: SourceExchange = { isConverted: true, price: 3000n * E18, rate: "failed", answer: "known" };
    const thin: SourceExchange = { isConverted: false, price: "failed", rate: (E18 * 985n) / 1_000n, answer: "known" };
    const other: SourceExchange = { isConverted: false, price: 3000n * E18, rate: E18, answer: "known" };
    const asked = [converted, converted, thin, other, other, other];
    expect(await read(asked, 1)).toBe((3000n * E18).toString());
    const unasked = asked.map((one) => (one === other ? { ...one, answer: "unknown" as const } : one));
    expect(await read(unasked, 1)).toBe("busy");
    // Answers that failed are absent: then the thin market is all there is.
    const down = asked.map((one) =>
      one === other ? { ...one, price: "failed" as const, rate: "failed" as const } : one,
    );
    expect(await read(down, 1)).toBe(multiply(3000n * E18, (E18 * 985n) / 1_000n).toString());
  });

  test("does not wait for a quote that cannot be converted anyway", async () => {
    const converted: SourceExchange = { isConverted: true, price: "failed", rate: "failed", answer: "unknown" };
    const direct: SourceExchange = { isConverted: false, price: 3000n * E18, rate: "failed", answer: "known" };
    expect(await read([converted, direct, direct], 1)).toBe((3000n * E18).toString());
    expect(await read([converted, direct], 2)).toBe("none");
  });
});
