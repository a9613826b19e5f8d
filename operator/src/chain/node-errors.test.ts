import { expect, test } from "vitest";
import { classifyRejection, SAID } from "./rejection.js";

// Of these, test/rejections.test.ts has what anvil says from anvil itself.
test.each(SAID.map(({ words, meaning }) => [words, meaning]))("%s: %s", (words, meaning) => {
  expect(words).toBe(words.toLowerCase());
  for (const reason of [`-32000: ${words}`, `-32003: Tx: ${words.toUpperCase()}: next nonce 5, tx nonce 4`]) {
    expect(classifyRejection(reason)).toBe(meaning);
  }
});

test.each([
  ["-32000: transaction underpriced: gas tip cap 1, minimum needed 2", "underpriced"],
  ["-32000: INTERNAL_ERROR: could not replace existing tx", "replacement_underpriced"],
  ["-32602: Tx: [0x12] already Imported", "already_known"],
  ["-32000: insufficient funds for gas * price + value: balance 0, tx cost 5, overshot 5", "insufficient_funds"],
  ["-32000: tx fee (1.10 ether) exceeds the configured cap (1.00 ether)", "fee_cap_exceeded"],
  ["429: Your app has exceeded its compute units per second capacity.", "rate_limited"],
  ["-32000: exceeds block gas limit", "other"],
  ["-32005: Transaction gas limit exceeds block gas limit", "other"],
])("%s: %s", (reason, rejection) => {
  expect(classifyRejection(reason)).toBe(rejection);
});

test("every text says who says it, or that this is not verified", () => {
  for (const { by } of SAID) expect(by.length).toBeGreaterThan(0);
  expect(new Set(SAID.map(({ words }) => words)).size).toBe(SAID.length);
});
