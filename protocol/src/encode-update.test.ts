import { type Address, type ContractFunctionArgs, decodeFunctionData, getAddress, type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { datasetAbi } from "./abi/dataset.js";
import type { DatasetKind } from "./dataset-kind.js";
import { encodeUpdate, encodeUpdateBatch, type SignedRow } from "./encode-update.js";

// That every part is in its place, in the committee's order, is shown by `update-vectors.test.ts`.

const members = Array.from({ length: 255 }, (_, i) => getAddress(numberToHex(i + 1, { size: 20 })));
const round = 1_790_000_000n;
const bytes32 = (value: bigint) => numberToHex(value, { size: 32 });
const signature: Hex = `0x${"11".repeat(64)}1b`;

describe("encodeUpdate", () => {
  const header = { key: "0x61", round } as const;
  const reportOf = (provider: Address) => ({ provider, value: bytes32(1n), signature });

  it("refuses an address outside the committee, and two reports of one member", () => {
    const four = members.slice(0, 4);
    const [a, b] = four as [Address, Address];
    const outside: Address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    for (const other of [outside, a, outside.toLowerCase() as Address]) {
      const encode = () =>
        encodeUpdate("median", header, { members: four, toleranceBps: 0n }, "OK", [a, b, other].map(reportOf));
      expect(encode).toThrow("have the same signer");
    }
  });

  it("numbers 255 places", () => {
    const reports = members.slice(84).map(reportOf);
    const data = encodeUpdate("median", header, { members, toleranceBps: 0n }, "OK", reports);
    const { args } = decodeFunctionData({ abi: datasetAbi, data });
    expect(args?.[3]).toBe(((1n << 171n) - 1n) << 84n);
    expect(args?.[5]).toEqual(members.slice(0, 84));
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
    const data = encodeUpdateBatch(kind, { keys: ["0x61", "0x62", "0x63"], round }, committee, rows);
    const { args } = decodeFunctionData({ abi: datasetAbi, data });
    return args?.[0] as ContractFunctionArgs<typeof datasetAbi, "nonpayable", "updateBatch">[0];
  };

  it("picks a row that has a value, and never the zero of one that has none", () => {
    const rows = [rowOf(0, 0b101n, [0n, 5n, 0n]), rowOf(1, 0n, [0n, 6n, 9n]), rowOf(2, 0b101n, [0n, 4n, 0n])];
    expect(encoded("median", rows).picks).toBe("0x010001");
    const none = rows.map((row) => ({ ...row, missing: 0b111n }));
    expect(encoded("median", none).picks).toBe("0x000000");
  });

  it("picks the most frequent value for a dataset of majorities", () => {
    const rows = [rowOf(0, 0n, [9n, 1n, 1n]), rowOf(1, 0n, [5n, 7n, 2n]), rowOf(2, 0b100n, [9n, 7n, 2n])];
    expect(encoded("majority", rows).picks).toBe("0x000100");
  });

  it("refuses a row with too few values, and two rows of one member", () => {
    const row = rowOf(0, 0n, [1n, 1n, 1n]);
    expect(() => encoded("median", [{ ...row, values: [bytes32(1n)] }])).toThrow("has 1 values for 3 keys");
    expect(() => encoded("median", [row, row])).toThrow("have the same signer");
  });
});
