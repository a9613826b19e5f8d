import { describe, expect, test } from "vitest";
import { acceptsCsv, acceptsEventStream } from "./accept-header.js";

describe.each([
  ["text/event-stream", acceptsEventStream],
  ["text/csv", acceptsCsv],
])("%s", (type, isAccepted) => {
  test.each([
    [type, true],
    [`application/json, ${type};q=0.5`, true],
    [`${type} ; q=0.5,application/json`, true],
    [type.toUpperCase(), true],
    [`${type}-2`, false],
    ["application/json", false],
    ["*/*", false],
    [undefined, false],
  ])("Accept: %s", (header, expected) => {
    expect(isAccepted(header)).toBe(expected);
  });
});
