import { expect, test } from "vitest";
import { keyProblem } from "./key-problem.js";

const HASH = "ab".repeat(32);

test.each([
  ["SPOT_PRICE", "", "Enter a key."],
  ["SPOT_PRICE", "SPOTPX/ETH-USD", null],
  ["SPOT_PRICE", "spotpx/eth-usd", "Write the key in upper case: SPOTPX/ETH-USD."],
  ["SPOT_PRICE", "ETH-USD", expect.stringContaining("SPOTPX/<BASE>-<QUOTE>")],
  ["SPOT_PRICE", "0x123", expect.stringContaining("an odd number of hex digits")],
  ["SPOT_PRICE", "0xSPOTPX", expect.stringContaining("not a hex digit")],
  ["SPOT_PRICE", "SPOTPX/€-USD", expect.stringContaining("not printable ASCII")],
  ["WEB_ORACLE", `WEB/${HASH}`, null],
  ["WEB_ORACLE", "WEB/ab", expect.stringContaining("64 lowercase hex digits")],
] as const)("in a dataset of %s, %s: %s", (form, text, problem) => {
  expect(keyProblem(form, text)).toEqual(problem);
});
