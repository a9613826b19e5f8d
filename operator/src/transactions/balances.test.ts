import { parseGwei } from "viem";
import { expect, test } from "vitest";
import { isLowBalance } from "./balances.js";

test.each([
  [0n, 0, true],
  [1n, 0, false],
  [parseGwei("5") - 1n, 5, true],
  [parseGwei("5"), 5, false],
])("whether %s wei are a low balance, where lowBalanceGwei is %s: %s", (wei, lowBalanceGwei, isLow) => {
  expect(isLowBalance(wei, lowBalanceGwei)).toBe(isLow);
});
