import { compare, describe as describeResult, readTriage } from "@dataset-oracle/tools/slither";
import { describe, expect, it } from "vitest";

const result = (check: string, description: string) => ({ check, description });
const KNOWN = result(
  "timestamp",
  "A.f() (src/A.sol#1-9) uses timestamp\n\tDangerous comparisons:\n\t- a > b (src/A.sol#3)\n",
);
const TRIAGE = [
  { check: "timestamp", why: "by design", results: ["A.f() uses timestamp; Dangerous comparisons:; a > b"] },
  { check: "pragma", why: "style" },
];

describe("the triage of Slither's results", () => {
  it("knows a result wherever it is in its file", () => {
    const moved = result("timestamp", KNOWN.description.replaceAll("#", "#1"));
    expect(compare([moved, result("pragma", "anything")], TRIAGE)).toEqual({ unexplained: [], unused: [] });
  });

  it("takes no more of a function for explained than what was", () => {
    const more = result("timestamp", `${KNOWN.description}\t- c > d (src/A.sol#4)\n`);
    const other = result("assembly", KNOWN.description);
    const style = result("pragma", "anything");
    expect(compare([KNOWN, more, other, style], TRIAGE)).toEqual({ unexplained: [more, other], unused: [] });
  });

  it("finds the explanations of results that are gone", () => {
    const unused = [
      { check: "timestamp", text: describeResult(KNOWN) },
      { check: "pragma", text: "" },
    ];
    expect(compare([], TRIAGE)).toEqual({ unexplained: [], unused });
  });

  it("has a reason for each result", () => {
    const triage = readTriage();
    expect(triage.length).toBeGreaterThan(20);
    for (const { check, why } of triage) expect(why, check).toMatch(/^\S.{30,}\.$/);
  });
});
