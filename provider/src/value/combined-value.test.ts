import { describe, expect, test } from "vitest";
import { describeSources, median, outcomeOfTooFewValues, reasonOf, type SourceUse } from "./combined-value.js";

describe("the median", () => {
  test.each([
    [[7n], 7n],
    [[9n, 10n, 100n], 10n],
    [[3n, 1n, 2n], 2n],
    [[4n, 1n, 3n, 2n], 2n],
    [[5n, 5n, 1n], 5n],
  ])("of %s is %d: by number, and the lower of two in the middle", (values, middle) => {
    expect(median(values)).toBe(middle);
  });

  test("does not exist for no values", () => {
    expect(() => median([])).toThrow("An empty list has no median");
  });
});

test.each<[waits: number[], missing: number, retryAfter: number | null]>([
  [[], 1, null],
  [[3], 2, null],
  [[7], 1, 7],
  [[9, 2.2, 30], 1, 3],
  [[9, 2.2, 30], 2, 9],
  [[9, 2.2, 30], 3, 30],
])("with sources that can be asked after %s s, and %d values missing, the outcome is known after %s s", (...row) => {
  const [waits, missing, retryAfter] = row;
  const outcome = retryAfter === null ? { kind: "none", reason: "too few" } : { kind: "busy", retryAfter };
  expect(outcomeOfTooFewValues(waits, missing, "too few")).toEqual(outcome);
});

describe("the notes on sources", () => {
  const used: SourceUse = { source: "a", quote: { value: 5n, quotedAt: null }, dropped: null };

  test("say what each gave, when, and why it was not used", () => {
    const latest = BigInt(Number.MAX_SAFE_INTEGER);
    const timed = [latest, latest + 1n].map((quotedAt) => ({ ...used, quote: { value: 5n, quotedAt } }));
    const failed: SourceUse = { source: "b", quote: null, dropped: { code: "timeout", detail: "no answer" } };
    expect(describeSources([used, ...timed, failed], "median")).toEqual([
      { name: "a", value: "5", quote_time: null, used: true, reason: null },
      { name: "a", value: "5", quote_time: Number.MAX_SAFE_INTEGER, used: true, reason: null },
      { name: "a", value: "5", quote_time: null, used: true, reason: null },
      { name: "b", value: null, quote_time: null, used: false, reason: "timeout: no answer" },
    ]);
  });

  test("are of 32 sources at most, and each reason is one short line of ASCII", () => {
    expect(describeSources(Array(33).fill(used), "median")).toHaveLength(32);
    expect(reasonOf({ code: "source_error", detail: "\u001b[2J ~é\n" })).toBe("source_error: ?[2J ~??");
    expect(reasonOf({ code: "timeout", detail: "x".repeat(200) })).toBe(`timeout: ${"x".repeat(91)}`);
  });
});
