import { describe, expect, test } from "vitest";
import { MAX_SPEC_BYTES, specHash } from "./spec-hash.js";

describe("a spec's hash", () => {
  test("is keccak256 of its bytes", () => {
    expect(specHash("0x7b7d")).toEqual({
      ok: true,
      value: "0xb48d38f93eaa084033fc5970bf96e559c33c4cdc07d889ab00b4d63f9590739d",
    });
  });

  test("is of 1 to 8,192 bytes", () => {
    expect(specHash("0x").ok).toBe(false);
    expect(specHash(`0x${"20".repeat(MAX_SPEC_BYTES)}`).ok).toBe(true);
    expect(specHash(`0x${"20".repeat(MAX_SPEC_BYTES + 1)}`)).toMatchObject({
      ok: false,
      error: expect.stringContaining("has 8193"),
    });
  });
});
