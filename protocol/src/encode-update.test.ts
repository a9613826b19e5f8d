import fc from "fast-check";
import { type Address, getAddress, type Hex, numberToHex, size, trim } from "viem";
import { describe, expect, test } from "vitest";
import type { DatasetKind } from "./dataset-kind.js";
import { encodeUpdate, encodeUpdateBatch, type SignedRow } from "./encode-update.js";
import { absenteesOf, type PackedUpdate, signedIn, unpackUpdate } from "./packed-update.js";
import { ZERO_VALUE } from "./report.js";
import { encodeUpdateCall } from "./update-call.js";

// That every part is in its place, in the committee's order, is shown by `update-vectors.test.ts`.

const members = Array.from({ length: 255 }, (_, i) => getAddress(numberToHex(i + 1, { size: 20 })));
const round = 1_790_000_000n;
const bytes32 = (value: bigint) => numberToHex(value, { size: 32 });
const signature: Hex = `0x${"11".repeat(64)}1b`;

function unpacked<K extends PackedUpdate["kind"]>(packed: Hex, kind: K) {
  const update = unpackUpdate(packed);
  if (!update.ok || update.value.kind !== kind) throw new Error(`This is no packed ${kind}.`);
  return update.value as PackedUpdate & { kind: K };
}

describe("encodeUpdate", () => {
  const header = { key: "0x61", round } as const;
  const reportOf = (provider: Address) => ({ provider, value: bytes32(1n), signature });

  test("refuses an address outside the committee, and two reports of one member", () => {
    const four = members.slice(0, 4);
    const [a, b] = four as [Address, Address];
    const outside: Address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    for (const other of [outside, a, outside.toLowerCase() as Address]) {
      const encode = () =>
        encodeUpdate("median", header, { members: four, toleranceBps: 0n }, "OK", [a, b, other].map(reportOf));
      expect(encode).toThrow("have the same signer");
    }
  });

  test("numbers 255 places", () => {
    const reports = members.slice(84).map(reportOf);
    const packed = encodeUpdate("median", header, { members, toleranceBps: 0n }, "OK", reports);
    const update = unpacked(packed, "update");
    expect(absenteesOf(update)).toEqual(members.slice(0, 84));
    expect(signedIn(update.members)).toHaveLength(171);
  });

  test("takes at most 32 bytes beside the key, signatures, values, absentees and a bit for each member", () => {
    const values = fc.array(fc.bigInt(0n, 2n ** 208n - 1n), { minLength: 1, maxLength: 171 });
    fc.assert(
      fc.property(
        values,
        fc.integer({ min: 0, max: 84 }),
        fc.integer({ min: 1, max: 256 }),
        (reported, absent, length) => {
          const committee = { members: members.slice(0, reported.length + absent), toleranceBps: 10_000n };
          const reports = reported.map((value, i) => ({ ...reportOf(members[i] as Address), value: bytes32(value) }));
          const key: Hex = `0x${"61".repeat(length)}`;
          const data = encodeUpdateCall(encodeUpdate("median", { key, round }, committee, "OK", reports));
          const bytesOf = (value: bigint) => (value === 0n ? 0 : size(trim(bytes32(value))));
          const said = reported.reduce((sum, value) => sum + 65 + bytesOf(value), length + 20 * absent);
          const packed = 32 + said + committee.members.length / 8;
          // The selector, the offset and the length, and the packed bytes up to a multiple of 32.
          expect(size(data)).toBeLessThanOrEqual(68 + 32 * Math.ceil(packed / 32));
        },
      ),
    );
  });

  test("claims the lower median, and in a dataset of majorities the most frequent value", () => {
    const committee = { members: members.slice(0, 4), toleranceBps: 0n };
    const reports = [9n, 1n, 2n, 9n].map((value, i) => ({ ...reportOf(members[i] as Address), value: bytes32(value) }));
    const claimOf = (kind: DatasetKind) =>
      unpacked(encodeUpdate(kind, header, committee, "OK", reports), "update").value;
    expect(claimOf("median")).toBe(bytes32(2n));
    expect(claimOf("majority")).toBe(bytes32(9n));
  });

  test("refuses a report of no data with a value, which cannot be carried", () => {
    const [a, b] = members as [Address, Address];
    const committee = { members: [a, b], toleranceBps: 0n };
    const encode = (value: Hex) =>
      encodeUpdate("median", header, committee, "NOT_AVAILABLE", [
        { ...reportOf(a), value: ZERO_VALUE },
        { ...reportOf(b), value },
      ]);
    expect(unpacked(encode(ZERO_VALUE), "update").outcome).toBe("NOT_AVAILABLE");
    expect(() => encode(bytes32(7n))).toThrow("has the value 0x0");
  });
});

describe("encodeUpdateBatch", () => {
  const committee = { members: members.slice(0, 4), toleranceBps: 100n };
  const rowOf = (place: number, missing: bigint, values: bigint[]): SignedRow => ({
    provider: members[place] as Address,
    missing,
    values: values.map(bytes32),
    signature,
  });
  const encoded = (kind: DatasetKind, rows: SignedRow[]) => {
    return unpacked(encodeUpdateBatch(kind, { keys: ["0x61", "0x62", "0x63"], round }, committee, rows), "batch");
  };

  test("picks a row that has a value, and never the zero of one that has none", () => {
    const rows = [rowOf(0, 0b101n, [0n, 5n, 0n]), rowOf(1, 0n, [0n, 6n, 9n]), rowOf(2, 0b101n, [0n, 4n, 0n])];
    expect(encoded("median", rows).picks).toEqual([1, 0, 1]);
    const none = rows.map((row) => ({ ...row, missing: 0b111n }));
    expect(encoded("median", none).picks).toEqual([0, 0, 0]);
  });

  test("picks the most frequent value for a dataset of majorities", () => {
    const rows = [rowOf(0, 0n, [9n, 1n, 1n]), rowOf(1, 0n, [5n, 7n, 2n]), rowOf(2, 0b100n, [9n, 7n, 2n])];
    expect(encoded("majority", rows).picks).toEqual([0, 1, 0]);
  });

  test("refuses a row with too few values, and two rows of one member", () => {
    const row = rowOf(0, 0n, [1n, 1n, 1n]);
    expect(() => encoded("median", [{ ...row, values: [bytes32(1n)] }])).toThrow("has 1 values for 3 keys");
    expect(() => encoded("median", [row, row])).toThrow("have the same signer");
  });
});
