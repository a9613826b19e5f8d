import { describe, expect, it } from "vitest";
import { QUERY_STATUSES } from "./query-status.js";

describe("QUERY_STATUSES", () => {
  it("come in the contract's order", () => {
    expect(QUERY_STATUSES).toEqual(["INVALID", "OK", "NOT_AVAILABLE", "DISAGREEMENT"]);
  });
});
