import { expect, test } from "vitest";
import { preferredWait } from "./prefer-header.js";

test.each([
  ["wait=10", 10],
  ["respond-async, wait=5", 5],
  ["Wait = 7; foo=bar", 7],
  ['wait="3"', 3],
  ["wait=0", 0],
  ["wait=61", 60],
  ["wait=999999999", 60],
  ["wait=-1", null],
  ["wait=1.5", null],
  ["wait=ten", null],
  ["await=10", null],
  ["", null],
  [undefined, null],
])("Prefer: %s", (header, seconds) => {
  expect(preferredWait(header, 60)).toBe(seconds);
});
