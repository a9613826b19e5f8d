import { numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import { agreedValue, agreesWith, storedValue } from "./agreed-value.js";
import { DATASET_KINDS, type DatasetKind } from "./dataset-kind.js";

const bytes32 = (value: bigint) => numberToHex(value, { size: 32 });

describe("agreedValue", () => {
  const agreed = (kind: DatasetKind, values: bigint[]) => BigInt(agreedValue(kind, values.map(bytes32)));

  test.each([
    [[5n], 5n],
    [[9n, 1n], 1n],
    [[9n, 1n, 5n], 5n],
    [[4n, 3n, 2n, 1n], 2n],
    [[2n, 2n, 1n, 2n], 2n],
    [[1n, 1n, 9n, 9n], 1n],
    [[0n, 0n, 0n], 0n],
    [[9n, 10n, 100n], 10n],
    [[2n ** 256n - 1n, 2n ** 208n - 1n, 0n], 2n ** 208n - 1n],
  ])("of a median is the lower middle one, case %#", (values, expected) => {
    expect(agreed("median", values)).toBe(expected);
  });

  test("of a median equals sorting as numbers, in any order and with many ties", () => {
    for (let count = 1; count <= 31; ++count) {
      const values = Array.from({ length: count }, (_, i) => BigInt((i * 7919 + count * 104729) % 11) * 10n ** 18n);
      const ascending = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      expect(agreed("median", values)).toBe(ascending[Math.floor((count - 1) / 2)]);
    }
  });

  test.each([
    [[5n], 5n],
    [[1n, 9n, 9n], 9n],
    [[9n, 1n, 2n, 1n, 3n], 1n],
    [[2n, 1n, 1n, 2n], 2n],
    [[2n ** 256n - 1n, 0n, 0n], 0n],
  ])("of a majority is the most frequent one, case %#", (values, expected) => {
    expect(agreed("majority", values)).toBe(expected);
  });

  test("throws without values", () => {
    for (const kind of DATASET_KINDS) expect(() => agreedValue(kind, [])).toThrow("no values to agree on");
  });
});

describe("agreesWith", () => {
  test.each([
    ["median", 100n, 101n, true],
    ["median", 100n, 99n, true],
    ["median", 100n, 102n, false],
    ["median", 100n, 98n, false],
    ["median", 0n, 0n, true],
    ["median", 0n, 1n, false],
    ["median", 2n ** 208n - 1n, 2n ** 208n - 2n, true],
    ["majority", 100n, 100n, true],
    ["majority", 100n, 101n, false],
  ] as const)("in a %s dataset with a tolerance of 1%, %d and %d: %s", (kind, stored, reported, agrees) => {
    expect(agreesWith(kind, bytes32(stored), bytes32(reported), 100n)).toBe(agrees);
  });
});

describe("storedValue", () => {
  test.each([
    ["OK", 2n],
    ["DISAGREEMENT", 0n],
    ["NOT_AVAILABLE", 0n],
  ] as const)("with the status %s is %d", (status, value) => {
    const reports = [3n, 1n, 2n].map((reported) => ({ value: bytes32(reported) }));
    expect(BigInt(storedValue("median", status, reports))).toBe(value);
  });
});
