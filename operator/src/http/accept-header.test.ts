import { expect, test } from "vitest";
import { acceptsEventStream } from "./event-stream.js";

test.each([
  ["text/event-stream", true],
  ["application/json, text/event-stream;q=0.5", true],
  ["TEXT/Event-Stream", true],
  ["application/json", false],
  ["*/*", false],
  [undefined, false],
])("Accept: %s", (header, accepts) => {
  expect(acceptsEventStream(header)).toBe(accepts);
});
