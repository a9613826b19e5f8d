import { expect, test } from "vitest";
import { acceptsEventStream, preferredWait } from "./data-request.js";

test.each([
  ["text/event-stream", true],
  ["application/json, text/event-stream;q=0.5", true],
  ["text/event-stream ; q=0.5,application/json", true],
  ["TEXT/EVENT-STREAM", true],
  ["text/event-stream-2", false],
  ["application/json", false],
  ["*/*", false],
  [undefined, false],
])("Accept: %s", (header, expected) => {
  expect(acceptsEventStream(header)).toBe(expected);
});

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
