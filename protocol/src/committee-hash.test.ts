import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import vectors from "../vectors/committees.json" with { type: "json" };
import { committeeHash } from "./committee-hash.js";

describe("committeeHash", () => {
  test.each(vectors.committees)("hashes $name as the contract does", ({ members, toleranceBps, hash }) => {
    expect(committeeHash({ members: members as Address[], toleranceBps: BigInt(toleranceBps) })).toBe(hash);
  });
});
