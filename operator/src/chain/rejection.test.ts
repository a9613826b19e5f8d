import { expect, test } from "vitest";
import { classifyRejection } from "./rejection.js";

// Of these, test/rejections.test.ts has what anvil says from anvil itself.
test.each([
  ["-32000: already known", "already_known"],
  ["-32003: transaction already imported", "already_known"],
  ["-32003: nonce too low", "nonce_taken"],
  ["-32000: replacement transaction underpriced", "nonce_taken"],
  ["-32000: transaction underpriced: gas tip cap 1, minimum needed 2", "other"],
  ["-32000: insufficient funds for gas * price + value", "out_of_funds"],
  ["-32003: Insufficient funds for gas * price + value", "out_of_funds"],
  ["-32000: exceeds block gas limit", "other"],
])("%s", (reason, rejection) => {
  expect(classifyRejection(reason)).toBe(rejection);
});
