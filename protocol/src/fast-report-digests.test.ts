import fc from "fast-check";
import { type Address, bytesToHex, getAddress, type Hex, hexToBigInt, keccak256 } from "viem";
import { describe, expect, it } from "vitest";
import batchVectors from "../vectors/batches.json" with { type: "json" };
import vectors from "../vectors/reports.json" with { type: "json" };
import { batchReportDigest } from "./batch-report.js";
import { FastReportDigests } from "./fast-report-digests.js";
import { type Outcome, type ReportHeader, reportDigest, ZERO_VALUE } from "./report.js";

const keccak = (bytes: Uint8Array) => keccak256(bytes, "bytes");

const hex = (minBytes: number, maxBytes: number) =>
  fc
    .uint8Array({ minLength: minBytes, maxLength: maxBytes })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);

describe("FastReportDigests", () => {
  it.each(vectors.reports)("makes the vectors' digest of $name", ({ chainId, dataset, key, ...vector }) => {
    const digests = new FastReportDigests(chainId, dataset as Address, keccak);
    const digest = digests.of({ key: key as Hex, round: BigInt(vector.timestamp) });
    const outcome = vector.outcome === 1 ? "OK" : "NOT_AVAILABLE";
    expect(Buffer.from(digest(outcome, vector.value as Hex)).toString("hex")).toBe(vector.digest.slice(2));
  });

  it("makes what reportDigest makes of any report, whatever was hashed before", () => {
    const chainId = 31_337;
    const said = fc.record({ outcome: fc.constantFrom<Outcome>("OK", "NOT_AVAILABLE"), value: hex(32, 32) });
    fc.assert(
      fc.property(
        hex(20, 20),
        hex(1, 256),
        fc.bigInt(0n, 2n ** 40n - 1n),
        fc.array(said),
        (address, key, round, all) => {
          const dataset = getAddress(address);
          const header: ReportHeader = { chainId, dataset, key, round };
          const digests = new FastReportDigests(chainId, dataset, keccak);
          const digest = digests.of(header);
          const other = digests.of({ key: "0x00", round: 0n });
          for (const { outcome, value } of all) {
            other("OK", ZERO_VALUE);
            const made = `0x${Buffer.from(digest(outcome, value)).toString("hex")}`;
            expect(made).toBe(reportDigest({ ...header, outcome, value }));
          }
        },
      ),
    );
  });

  it.each(batchVectors.batches)("makes the vectors' digest of the row of $name", ({ chainId, dataset, ...vector }) => {
    const row = {
      keys: vector.keys as Hex[],
      round: BigInt(vector.timestamp),
      missing: hexToBigInt(vector.missing as Hex),
      values: vector.values as Hex[],
    };
    expect(bytesToHex(new FastReportDigests(chainId, dataset as Address, keccak).ofRow(row))).toBe(vector.digest);
  });

  it("makes what batchReportDigest makes of any row, whatever was hashed before", () => {
    const chainId = 31_337;
    const dataset = getAddress(`0x${"0b".repeat(20)}`);
    const digests = new FastReportDigests(chainId, dataset, keccak);
    const row = fc.record({
      keys: fc.array(hex(1, 256), { minLength: 1, maxLength: 20 }),
      round: fc.bigInt(0n, 2n ** 40n - 1n),
      missing: fc.bigInt(0n, 2n ** 256n - 1n),
      values: fc.array(hex(32, 32), { minLength: 1, maxLength: 20 }),
    });
    fc.assert(
      fc.property(row, (said) => {
        expect(bytesToHex(digests.ofRow(said))).toBe(batchReportDigest({ chainId, dataset, ...said }));
        digests.of({ key: "0x00", round: 0n })("OK", ZERO_VALUE);
      }),
    );
  });
});
