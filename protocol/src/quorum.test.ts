import { describe, expect, test } from "vitest";
import vectors from "../vectors/quorum.json" with { type: "json" };
import { faultBound, isQuorum } from "./quorum.js";

describe("isQuorum", () => {
  test.each(vectors.counts)("decides $signers of $members as the contract does", ({ members, signers, quorum }) => {
    expect(isQuorum(signers, members - signers)).toBe(quorum);
  });

  test("needs more than two thirds: exactly two thirds never pass", () => {
    for (let third = 1; third <= 85; ++third) {
      expect(isQuorum(2 * third, third)).toBe(false);
      expect(isQuorum(2 * third + 1, third - 1)).toBe(true);
    }
  });
});

describe("faultBound", () => {
  test.each(vectors.faultBounds)("lets $faults of $members lie", ({ members, faults }) => {
    expect(faultBound(members)).toBe(faults);
  });

  test("leaves the honest a majority of any quorum, even when every liar is in it", () => {
    for (let members = 1; members <= 255; ++members) {
      let quorum = 0;
      while (!isQuorum(quorum, members - quorum)) ++quorum;
      expect(quorum - faultBound(members)).toBeGreaterThan(faultBound(members));
    }
  });
});
