import { type Address, type Hex, hexToBigInt, numberToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import vectors from "../vectors/batches.json" with { type: "json" };
import {
  type BatchReport,
  batchReportDigest,
  isMissing,
  MAX_BATCH_KEYS,
  recoverBatchReporter,
  signBatchReport,
} from "./batch-report.js";
import { compactSignature } from "./compact-signature.js";

type BatchReportVector = (typeof vectors.batches)[number];

const reportOf = (vector: BatchReportVector): BatchReport => ({
  chainId: vector.chainId,
  dataset: vector.dataset as Address,
  keys: vector.keys as Hex[],
  round: BigInt(vector.timestamp),
  missing: hexToBigInt(vector.missing as Hex),
  values: vector.values as Hex[],
});

describe.each(vectors.batches)("the row of $name", (vector) => {
  const report = reportOf(vector);

  test("has the vectors' digest", () => {
    expect(batchReportDigest(report)).toBe(vector.digest);
  });

  test("is signed with the vectors' signature, which recovers to the signer", async () => {
    const account = privateKeyToAccount(vector.privateKey as Hex);
    expect(await signBatchReport(account, report)).toBe(vector.signature);
    expect(await recoverBatchReporter(report, vector.signature)).toBe(vector.signer);
    expect(compactSignature(vector.signature as Hex)).toEqual({ r: vector.r, vs: vector.vs });
  });

  test("has one bit for each key", () => {
    const places = Array.from({ length: MAX_BATCH_KEYS }, (_, place) => isMissing(report, place));
    const bits = places.reduce((sum, missing, place) => (missing ? sum | (1n << BigInt(place)) : sum), 0n);
    expect(bits).toBe(report.missing);
    expect(places.slice(report.keys.length)).not.toContain(true);
  });
});

describe("recoverBatchReporter", () => {
  const [, row] = vectors.batches as [BatchReportVector, BatchReportVector];
  const report = reportOf(row);
  const others: Partial<BatchReport>[] = [
    { chainId: 1 },
    { dataset: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
    { keys: report.keys.toReversed() },
    { keys: report.keys.slice(1) },
    { missing: 0n },
    { values: report.values.toReversed() },
    { values: [...report.values, numberToHex(0, { size: 32 })] },
    { round: report.round + 1n },
  ];

  test.each(others)("finds another signer where %o was not signed", async (change) => {
    expect(await recoverBatchReporter({ ...report, ...change }, row.signature)).not.toBe(row.signer);
  });

  test("takes no signature with another v", async () => {
    expect(await recoverBatchReporter(report, `${row.signature.slice(0, -2)}1d`)).toBeNull();
    expect(await recoverBatchReporter(report, "0x")).toBeNull();
  });
});
