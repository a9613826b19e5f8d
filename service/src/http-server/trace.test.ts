import { expect, test } from "vitest";
import { requestIdOf, traceHeaders, traceOf } from "./trace.js";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const forwarded = (traceparent: string | undefined) =>
  traceHeaders(traceOf({ ...(traceparent !== undefined && { traceparent }) }, "id", true, Math.random)).traceparent;

test("a trace is continued with a span of its own, and the caller's flags", () => {
  expect(forwarded(`00-${TRACE_ID}-b7ad6b7169203331-01`)).toMatch(
    new RegExp(`^00-${TRACE_ID}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`),
  );
});

test.each([
  ["missing", undefined],
  ["not readable", "nonsense"],
  ["all zeros", `00-${"0".repeat(32)}-b7ad6b7169203331-01`],
  ["of version ff", `ff-${TRACE_ID}-b7ad6b7169203331-01`],
])("a trace is new when the caller's is %s", (_, traceparent) => {
  expect(forwarded(traceparent)).toMatch(/^00-(?!0{32}|0af7651916cd43dd)[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});

test("a request id is new when the caller's is not safe to log", () => {
  expect(requestIdOf({ "x-request-id": "checkout-4711" }, Math.random)).toBe("checkout-4711");
  expect(requestIdOf({ "x-request-id": "<script>" }, () => 0.5)).toBe("80000000".repeat(4));
});
