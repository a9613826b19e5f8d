import { expect, test } from "vitest";
import { classifyNodeError, NODE_ERROR_TEXTS } from "./node-errors.js";

// test/anvil-transaction-errors.test.ts takes anvil's texts from anvil itself.
test.each(NODE_ERROR_TEXTS)("%s: %s", (text, kind) => {
  expect(text).toBe(text.toLowerCase());
  for (const reason of [`-32000: ${text}`, `-32003: Tx: ${text.toUpperCase()}: next nonce 5, tx nonce 4`]) {
    expect(classifyNodeError(reason)).toBe(kind);
  }
});

test.each([
  ["-32000: transaction underpriced: gas tip cap 1, minimum needed 2", "underpriced"],
  ["-32000: INTERNAL_ERROR: could not replace existing tx", "replacement_underpriced"],
  ["-32602: Tx: [0x12] already Imported", "already_known"],
  ["-32000: insufficient funds for gas * price + value: balance 0, tx cost 5, overshot 5", "insufficient_funds"],
  ["-32000: tx fee (1.10 ether) exceeds the configured cap (1.00 ether)", "fee_cap_exceeded"],
  ["429: Your app has exceeded its compute units per second capacity.", "rate_limited"],
  ["VM Exception while processing transaction: invalid opcode", "invalid_opcode"],
  ["invalid opcode: MCOPY", "invalid_opcode"],
  ["EVM error NotActivated", "invalid_opcode"],
  ["EVM error: OpcodeNotFound", "invalid_opcode"],
  ["BadInstruction", "invalid_opcode"],
  ["INVALID_OPERATION", "invalid_opcode"],
  ["-32000: exceeds block gas limit", "other"],
  ["-32005: Transaction gas limit exceeds block gas limit", "other"],
])("%s: %s", (reason, rejection) => {
  expect(classifyNodeError(reason)).toBe(rejection);
});

test("no text is listed twice", () => {
  expect(new Set(NODE_ERROR_TEXTS.map(([text]) => text)).size).toBe(NODE_ERROR_TEXTS.length);
});
