import { expect, test } from "vitest";
import { keyProblem } from "../src/request/key-problem.js";

const HASH = "ab".repeat(32);

test.each([
  ["SPOT_PRICE", "", "Enter a key."],
  ["SPOT_PRICE", "SPOTPX/ETH-USD", null],
  ["SPOT_PRICE", "spotpx/eth-usd", "Write the key in upper case: SPOTPX/ETH-USD."],
  ["SPOT_PRICE", "ETH-USD", expect.stringContaining("SPOTPX/<BASE>-<QUOTE>")],
  ["SPOT_PRICE", "0x1", expect.stringContaining("odd number")],
  ["WEB_ORACLE", `WEB/${HASH}`, null],
  ["WEB_ORACLE", "WEB/ab", expect.stringContaining("64 lowercase hex digits")],
] as const)("in a dataset of %s, %s: %s", (form, text, problem) => {
  expect(keyProblem(form, text)).toEqual(problem);
});
