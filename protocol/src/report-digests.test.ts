import fc from "fast-check";
import { type Address, getAddress, type Hex, keccak256 } from "viem";
import { describe, expect, it } from "vitest";
import vectors from "../vectors/reports.json" with { type: "json" };
import { type Outcome, type ReportSubject, reportDigest, ZERO_VALUE } from "./report.js";
import { ReportDigests } from "./report-digests.js";

const keccak = (bytes: Uint8Array) => keccak256(bytes, "bytes");

const hex = (minBytes: number, maxBytes: number) =>
  fc
    .uint8Array({ minLength: minBytes, maxLength: maxBytes })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString("hex")}`);

describe("ReportDigests", () => {
  it.each(vectors.reports)("makes the vectors' digest of $name", ({ chainId, dataset, key, ...vector }) => {
    const digests = new ReportDigests(chainId, dataset as Address, keccak);
    const digest = digests.of({ key: key as Hex, timestamp: BigInt(vector.timestamp) });
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
        (address, key, timestamp, all) => {
          const dataset = getAddress(address);
          const subject: ReportSubject = { chainId, dataset, key, timestamp };
          const digests = new ReportDigests(chainId, dataset, keccak);
          const digest = digests.of(subject);
          const other = digests.of({ key: "0x00", timestamp: 0n });
          for (const { outcome, value } of all) {
            other("OK", ZERO_VALUE);
            const made = `0x${Buffer.from(digest(outcome, value)).toString("hex")}`;
            expect(made).toBe(reportDigest({ ...subject, outcome, value }));
          }
        },
      ),
    );
  });
});
