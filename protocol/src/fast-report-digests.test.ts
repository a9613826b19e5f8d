import fc from "fast-check";
import { bytesToHex, getAddress, type Hex, keccak256 } from "viem";
import { describe, expect, test } from "vitest";
import { batchReportDigest } from "./batch-report.js";
import { FastReportDigests } from "./fast-report-digests.js";
import { type Outcome, type ReportHeader, reportDigest, ZERO_VALUE } from "./report.js";

const keccak = (bytes: Uint8Array) => keccak256(bytes, "bytes");

const hex = (minBytes: number, maxBytes: number) =>
  fc
    .uint8Array({ minLength: minBytes, maxLength: maxBytes })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);

const CHAIN_ID = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe("FastReportDigests", () => {
  test("equals reportDigest for any report, whatever was hashed before", () => {
    const said = fc.record({ outcome: fc.constantFrom<Outcome>("OK", "NOT_AVAILABLE"), value: hex(32, 32) });
    fc.assert(
      fc.property(
        CHAIN_ID,
        hex(20, 20),
        hex(1, 256),
        fc.bigInt(0n, 2n ** 40n - 1n),
        fc.array(said),
        (chainId, address, key, round, all) => {
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

  test("equals batchReportDigest for any row, whatever was hashed before", () => {
    const dataset = getAddress(`0x${"0b".repeat(20)}`);
    const row = fc.record({
      keys: fc.array(hex(1, 256), { minLength: 1, maxLength: 20 }),
      round: fc.bigInt(0n, 2n ** 40n - 1n),
      missing: fc.bigInt(0n, 2n ** 256n - 1n),
      values: fc.array(hex(32, 32), { minLength: 1, maxLength: 20 }),
    });
    fc.assert(
      fc.property(CHAIN_ID, fc.array(row, { minLength: 1, maxLength: 4 }), (chainId, rows) => {
        const digests = new FastReportDigests(chainId, dataset, keccak);
        for (const said of rows) {
          expect(bytesToHex(digests.ofRow(said))).toBe(batchReportDigest({ chainId, dataset, ...said }));
          digests.of({ key: "0x00", round: 0n })("OK", ZERO_VALUE);
        }
      }),
    );
  });
});
