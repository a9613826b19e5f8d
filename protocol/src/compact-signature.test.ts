import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { compactSignature } from "./compact-signature.js";

describe("compactSignature", () => {
  test.each(["0x", `0x${"00".repeat(64)}`, `0x${"00".repeat(66)}`] as Hex[])("refuses %s", (signature) => {
    expect(() => compactSignature(signature)).toThrow("65 bytes");
  });
});
