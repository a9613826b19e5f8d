import { expect, it } from "vitest";
import { median } from "./median.js";

it("takes the middle of an odd count, in whatever order the values come", () => {
  expect(median([9n, 1n, 5n])).toBe(5n);
  expect(median([7n])).toBe(7n);
});

it("takes the lower middle of an even count, so that the result is a value that a source gave", () => {
  expect(median([10n, 2n])).toBe(2n);
  expect(median([40n, 10n, 30n, 20n])).toBe(20n);
});

it("orders by number and not by text", () => {
  expect(median([9n, 10n, 100n])).toBe(10n);
});

it("has no answer for no values", () => {
  expect(() => median([])).toThrow("An empty list has no median");
});
