import {
  type Address,
  type ContractFunctionArgs,
  decodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  numberToHex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { datasetAbi } from "./abi/dataset.js";
import { compactSignature } from "./compact-signature.js";
import type { DatasetKind } from "./dataset-kind.js";
import { encodeUpdate, encodeUpdateBatch, type SignedRow, type SignedValue } from "./encode-update.js";
import { type Outcome, signReport, ZERO_VALUE } from "./report.js";

const accounts = [1, 2, 3, 4]
  .map((key) => privateKeyToAccount(numberToHex(key, { size: 32 })))
  .toSorted((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1));
const committee = { members: accounts.map(({ address }) => address), toleranceBps: 100n };
const header = {
  chainId: 42,
  dataset: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" as Address,
  key: "0x53504f5450582f4554482d555344" as Hex,
  round: 1_790_000_000n,
};

const bytes32 = (value: bigint) => numberToHex(value, { size: 32 });

async function signed(place: number, value: Hex, outcome: Outcome = "OK"): Promise<SignedValue> {
  const account = accounts[place];
  if (account === undefined) throw new Error(`The committee has no place ${place}.`);
  return { provider: account.address, value, signature: await signReport(account, { ...header, outcome, value }) };
}

const row = ({ value, signature }: SignedValue) => ({ content: value, ...compactSignature(signature) });

describe("encodeUpdate", () => {
  it("puts reports and absentees into the committee's order, whatever order they came in", async () => {
    const [a, c, d] = await Promise.all([signed(0, bytes32(30n)), signed(2, bytes32(10n)), signed(3, bytes32(20n))]);
    const data = encodeUpdate("median", header, committee, "OK", [d, a, c]);
    expect(decodeFunctionData({ abi: datasetAbi, data })).toEqual({
      functionName: "update",
      args: [
        header.key,
        header.round,
        bytes32(20n),
        0b1101n,
        [row(a), row(c), row(d)],
        [committee.members[1]],
        committee.toleranceBps,
      ],
    });
  });

  it('carries "no data" to the function of its own, without a value', async () => {
    const reports = await Promise.all([0, 1, 2].map((place) => signed(place, ZERO_VALUE, "NOT_AVAILABLE")));
    const data = encodeUpdate("median", header, committee, "NOT_AVAILABLE", reports);
    expect(decodeFunctionData({ abi: datasetAbi, data })).toEqual({
      functionName: "updateNotAvailable",
      args: [header.key, header.round, 0b0111n, reports.map(row), [committee.members[3]], committee.toleranceBps],
    });
  });

  it("refuses an address outside the committee, and two reports of one member", async () => {
    const [a, b] = [await signed(0, bytes32(1n)), await signed(1, bytes32(1n))];
    for (const provider of [header.dataset, a.provider, a.provider.toLowerCase() as Address]) {
      const other = { ...(await signed(0, bytes32(2n))), provider };
      expect(() => encodeUpdate("median", header, committee, "OK", [a, b, other])).toThrow("have the same signer");
    }
  });

  it("numbers 255 places", () => {
    const members = Array.from({ length: 255 }, (_, i) => getAddress(numberToHex(i + 1, { size: 20 })));
    const signature: Hex = `0x${"11".repeat(64)}1b`;
    const reports = members.slice(84).map((provider) => ({ provider, value: ZERO_VALUE, signature }));
    const data = encodeUpdate("median", header, { members, toleranceBps: 0n }, "OK", reports);
    const { args } = decodeFunctionData({ abi: datasetAbi, data });
    expect(args?.[3]).toBe(((1n << 171n) - 1n) << 84n);
    expect(args?.[5]).toEqual(members.slice(0, 84));
  });
});

describe("encodeUpdateBatch", () => {
  const keys: Hex[] = ["0x61", "0x62", "0x63"];
  const batch = { chainId: header.chainId, dataset: header.dataset, keys, round: header.round };
  const signature: Hex = `0x${"11".repeat(64)}1b`;
  const rowOf = (place: number, missing: bigint, values: bigint[]): SignedRow => ({
    provider: committee.members[place] as Address,
    missing,
    values: values.map(bytes32),
    signature,
  });
  const encoded = (kind: DatasetKind, rows: SignedRow[]) => {
    const { args } = decodeFunctionData({ abi: datasetAbi, data: encodeUpdateBatch(kind, batch, committee, rows) });
    return args?.[0] as ContractFunctionArgs<typeof datasetAbi, "nonpayable", "updateBatch">[0];
  };

  it("lays the rows out one after the other, in the committee's order", () => {
    const rows = [rowOf(3, 0n, [3n, 3n, 3n]), rowOf(0, 0b101n, [0n, 2n, 0n]), rowOf(2, 0n, [1n, 2n, 3n])];
    expect(encoded("median", rows)).toEqual({
      keyHashes: keys.map((key) => keccak256(key)),
      timestamp: header.round,
      toleranceBps: committee.toleranceBps,
      signers: 0b1101n,
      rows: [0b101n, 0n, 0n].map((missing) => ({ content: bytes32(missing), ...compactSignature(signature) })),
      values: [0n, 2n, 0n, 1n, 2n, 3n, 3n, 3n, 3n].map(bytes32),
      picks: "0x010001",
      absentees: [committee.members[1]],
    });
  });

  it("picks a row that has a value, and never the zero of one that has none", () => {
    const rows = [rowOf(0, 0b101n, [0n, 5n, 0n]), rowOf(1, 0n, [0n, 6n, 9n]), rowOf(2, 0b101n, [0n, 4n, 0n])];
    expect(encoded("median", rows).picks).toBe("0x010001");
    expect(
      encoded(
        "median",
        rows.map((row) => ({ ...row, missing: 0b111n })),
      ).picks,
    ).toBe("0x000000");
  });

  it("picks the most frequent value for a dataset of majorities", () => {
    const rows = [rowOf(0, 0n, [9n, 1n, 1n]), rowOf(1, 0n, [5n, 7n, 2n]), rowOf(2, 0b100n, [9n, 7n, 2n])];
    expect(encoded("majority", rows).picks).toBe("0x000100");
  });

  it("refuses a row with too few values, and two rows of one member", () => {
    const short = { ...rowOf(0, 0n, [1n, 1n, 1n]), values: [bytes32(1n)] };
    expect(() => encoded("median", [short])).toThrow("has 1 values for 3 keys");
    expect(() => encoded("median", [rowOf(0, 0n, [1n, 1n, 1n]), rowOf(0, 0n, [1n, 1n, 1n])])).toThrow(
      "have the same signer",
    );
  });
});
