import { expect, test } from "vitest";
import { defaultRange } from "../src/live/history-range.js";

test.each([
  [30, "1 h"],
  [3_600, "1 d"],
  [null, "1 w"],
])("with a heartbeat of %s the first range is %s", (heartbeat_seconds, range) => {
  expect(defaultRange({ heartbeat_seconds })).toBe(range);
});
