import type { SignedRow } from "@dataset-oracle/protocol/encode-update";
import { type Hex, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { agreedValueInBatch } from "./agreed-value-in-batch.js";

const word = (value: bigint): Hex => toHex(value, { size: 32 });
const ok = (value: bigint) => ({ status: "OK", value: word(value) }) as const;
const NONE = { status: "NOT_AVAILABLE" } as const;

describe("rows are aggregated", () => {
  const row = (value: bigint | null): SignedRow => ({
    provider: "0x0000000000000000000000000000000000000001",
    signature: "0x",
    missing: value === null ? 2n : 0n,
    values: [word(9n), word(value ?? 0n)],
  });

  test.each([
    ["a quorum of values: their lower median", [1n, 2n, 4n, 3n], ok(2n)],
    ["a quorum of no data", [null, null, null, 1n], NONE],
    ["two of four with a value: nothing", [1n, 1n, null, null], null],
    ["two rows of four: nothing", [1n, 1n], null],
  ])("%s", (_, values, expected) => {
    expect(agreedValueInBatch("median", 4, values.map(row), 1)).toEqual(expected);
  });
});
