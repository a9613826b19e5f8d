import { type Address, domainSeparator, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import vectors from "../vectors/reports.json" with { type: "json" };
import { compactSignature } from "./compact-signature.js";
import { type Report, recoverReporter, reportDigest, reportDomain, signReport, ZERO_VALUE } from "./report.js";

type ReportVector = (typeof vectors.reports)[number];

const reportOf = (vector: ReportVector): Report => ({
  chainId: vector.chainId,
  dataset: vector.dataset as Address,
  key: vector.key as Hex,
  round: BigInt(vector.timestamp),
  outcome: vector.outcome === 1 ? "OK" : "NOT_AVAILABLE",
  value: vector.value as Hex,
});

const [first] = vectors.reports as [ReportVector];

describe.each(vectors.reports)("the report of $name", (vector) => {
  const report = reportOf(vector);

  test("has the vectors' domain separator and digest", () => {
    expect(domainSeparator({ domain: reportDomain(report.chainId, report.dataset) })).toBe(vector.domainSeparator);
    expect(reportDigest(report)).toBe(vector.digest);
  });

  test("is signed with the vectors' signature, which recovers to the signer", async () => {
    const account = privateKeyToAccount(vector.privateKey as Hex);
    expect(account.address).toBe(vector.signer);
    expect(await signReport(account, report)).toBe(vector.signature);
    expect(await recoverReporter(report, vector.signature)).toBe(vector.signer);
    expect(compactSignature(vector.signature as Hex)).toEqual({ r: vector.r, vs: vector.vs });
  });
});

describe("recoverReporter", () => {
  test.each(vectors.refused)("takes no signature with $name", async ({ signature }) => {
    expect(await recoverReporter(reportOf(first), signature)).toBeNull();
  });

  const others: Partial<Report>[] = [
    { chainId: 1 },
    { dataset: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
    { key: "0x53504f5450582f4254432d555344" },
    { key: `${first.key as Hex}00` },
    { round: BigInt(first.timestamp) - 1n },
    { outcome: "NOT_AVAILABLE" },
    { value: ZERO_VALUE },
  ];
  test.each(others)("finds another signer where %o was not signed", async (change) => {
    expect(await recoverReporter({ ...reportOf(first), ...change }, first.signature)).not.toBe(first.signer);
  });
});
