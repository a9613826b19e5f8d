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
  ["wait=9999999999", 60],
  ["await=10", null],
  ["", null],
  [undefined, null],
])("Prefer: %s", (header, seconds) => {
  expect(preferredWait(header, 60)).toBe(seconds);
});

test.each(["wait=abc", "wait=-1", "wait=1.5", "wait=", "wait", "respond-async, wait=10s"])(
  "Prefer: %s is refused with the right form",
  (header) => {
    expect(() => preferredWait(header, 60)).toThrow("prefer: wait must be a whole number of seconds, as in wait=10.");
  },
);
