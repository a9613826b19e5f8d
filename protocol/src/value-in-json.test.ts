import fc from "fast-check";
import { maxUint256, numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import { DATASET_KINDS } from "./dataset-kind.js";
import { formatValue, parseValue } from "./value-in-json.js";

describe.each(DATASET_KINDS)("a value of a %s dataset", (kind) => {
  test("is parsed from what it is formatted as, and from nothing else", () => {
    fc.assert(
      fc.property(fc.oneof(fc.bigInt(0n, maxUint256), fc.constantFrom(0n, maxUint256)), (value) => {
        const text = formatValue(kind, value);
        expect(parseValue(kind, text)).toBe(numberToHex(value, { size: 32 }));
        expect(parseValue(kind, `0${text}`)).toBeNull();
      }),
    );
    for (const text of ["", "-1", "1.5", "1e3", "0x1", (maxUint256 + 1n).toString(), "9".repeat(78)]) {
      expect(parseValue(kind, text)).toBeNull();
    }
  });
});
