import { expect, test } from "vitest";
import { formatValue } from "./value-in-json.js";

test.each([
  ["median", 2n ** 256n - 1n, (2n ** 256n - 1n).toString()],
  ["median", `0x${"0".repeat(63)}a`, "10"],
  ["majority", 10n, `0x${"0".repeat(63)}a`],
] as const)("a value of a %s dataset, %s, is written as %s", (kind, value, text) => {
  expect(formatValue(kind, value)).toBe(text);
});
