import type { SignedRow } from "@dataset-oracle/protocol/encode-update";
import type { Outcome } from "@dataset-oracle/protocol/report";
import { type Address, type Hex, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { agreedValueInBatch, decideByQuorum, type ReportOrFailure, reportsOf } from "./quorum.js";

let count = 0;
const address = (): Address => toHex(++count, { size: 20 });
const report = (outcome: Outcome): ReportOrFailure => ({
  ...({ kind: "report", round: 1n, key: "0x00", value: "0x01", signature: "0x02" } as const),
  ...{ outcome, provider: address() },
});
const refusal = (refuses: "key" | "question"): ReportOrFailure => ({
  ...({ kind: "failure", host: "a", reason: "refused", detail: "refused", code: "some_code" } as const),
  ...{ refuses, provider: address() },
});
const times = <T>(n: number, make: () => T): T[] => Array.from({ length: n }, make);

/** Pairs of a committee size and the fewest signers that are more than two thirds of it. */
const QUORUMS = [
  [1, 1],
  [3, 3],
  [4, 3],
  [5, 4],
  [6, 5],
  [9, 7],
  [13, 9],
  [31, 21],
] as const;

describe.each(QUORUMS)("of %i members", (members, quorum) => {
  test.each(["OK", "NOT_AVAILABLE"] as const)(`${quorum} signers of %s decide, one fewer do not`, (outcome) => {
    const answers = times(quorum, () => report(outcome));
    expect(decideByQuorum(members, answers)).toMatchObject({ kind: "update", outcome, reports: { length: quorum } });
    expect(decideByQuorum(members, answers.slice(1))).toEqual({ kind: "no_quorum" });
  });

  test("values and no data do not add up to a quorum", () => {
    const mixed = [...times(quorum - 1, () => report("OK")), report("NOT_AVAILABLE")];
    expect(decideByQuorum(members, mixed)).toMatchObject(
      quorum === 1 ? { outcome: "NOT_AVAILABLE" } : { kind: "no_quorum" },
    );
  });

  test("refusals of the key decide only as a quorum of their own", () => {
    const refusals = times(quorum, () => refusal("key"));
    expect(decideByQuorum(members, refusals)).toEqual({ kind: "unknown_key" });
    expect(decideByQuorum(members, [...refusals.slice(1), refusal("question")])).toEqual({ kind: "no_quorum" });
  });
});

test("every valid report is part of the update, and no other answer", () => {
  const [ok, none] = [times(4, () => report("OK")), [report("NOT_AVAILABLE"), refusal("key")]];
  expect(decideByQuorum(5, [...none, ...ok])).toEqual({ kind: "update", outcome: "OK", reports: ok });
  expect(reportsOf("NOT_AVAILABLE", [...none, ...ok])).toEqual(none.slice(0, 1));
});

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

  test("each key by itself, as the dataset's kind does it", () => {
    const rows = [1n, 3n, 3n, null].map(row);
    expect(agreedValueInBatch("median", 4, rows, 0)).toEqual(ok(9n));
    expect(agreedValueInBatch("majority", 4, rows, 1)).toEqual(ok(3n));
  });
});
