import { expect, it } from "vitest";
import { median } from "./combined-value.js";

it("orders by number and not by text", () => {
  expect(median([9n, 10n, 100n])).toBe(10n);
});

it("has no answer for no values", () => {
  expect(() => median([])).toThrow("An empty list has no median");
});
