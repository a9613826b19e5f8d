import { compare, describe as describeResult, readTriage } from "@dataset-oracle/tools/slither";
import { describe, expect, test } from "vitest";

const result = (check: string, description: string) => ({ check, description });
const KNOWN = result(
  "timestamp",
  "A.f() (src/A.sol#1-9) uses timestamp\n\tDangerous comparisons:\n\t- a > b (src/A.sol#3)\n",
);
const VERSIONS = result(
  "pragma",
  "2 different versions are used:\n\t- Version constraint ^0.8.4 is used by:\n\t\t-^0.8.4 (src/A.sol#2)\n",
);
const TRIAGE = [
  { check: "timestamp", why: "by design", results: ["A.f() uses timestamp; Dangerous comparisons:; a > b"] },
  {
    check: "pragma",
    why: "by design",
    results: ["2 different versions are used:; Version constraint ^0.8.4 is used by:"],
  },
];

describe("the triage of Slither's results", () => {
  test("knows a result wherever it is in its file, and however many files have the same version", () => {
    const moved = result("timestamp", KNOWN.description.replaceAll("#", "#1"));
    const more = result("pragma", `${VERSIONS.description}\t\t-^0.8.4 (src/B.sol#2)\n`);
    expect(compare([moved, more], TRIAGE)).toEqual({ unexplained: [], unused: [] });
  });

  test("takes no more of a function for explained than what was", () => {
    const more = result("timestamp", `${KNOWN.description}\t- c > d (src/A.sol#4)\n`);
    const other = result("assembly", KNOWN.description);
    const version = result("pragma", VERSIONS.description.replaceAll("^0.8.4", "^0.7.6"));
    expect(compare([KNOWN, VERSIONS, more, other, version], TRIAGE)).toEqual({
      unexplained: [more, other, version],
      unused: [],
    });
  });

  test("finds the explanations of results that are gone", () => {
    const unused = [
      { check: "timestamp", text: describeResult(KNOWN) },
      { check: "pragma", text: describeResult(VERSIONS) },
    ];
    expect(compare([], TRIAGE)).toEqual({ unexplained: [], unused });
  });

  test("has a reason for each result", () => {
    const triage = readTriage();
    expect(triage.length).toBeGreaterThan(20);
    for (const { check, why, results } of triage) {
      expect(why, check).toMatch(/^\S.{30,}\.$/);
      expect(results.length, check).toBeGreaterThan(0);
    }
  });
});
