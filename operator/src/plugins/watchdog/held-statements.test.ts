import { clockOf } from "@dataset-oracle/tools/clock-of";
import { type Address, type Hex, numberToHex } from "viem";
import { beforeEach, expect, test } from "vitest";
import type { Dataset } from "../../dataset/dataset.js";
import type { ReportStatement, RowStatement, Statement } from "../../reports/statement.js";
import { HeldStatements } from "./held-statements.js";

const [A, B]: [Address, Address] = [`0x${"aa".repeat(20)}`, `0x${"bb".repeat(20)}`];
const [KEY, OTHER]: [Hex, Hex] = ["0x4b31", "0x4b32"];
const ROUND = 1_790_000_000n;
const word = (value: number) => numberToHex(value, { size: 32 });
const signature: Hex = `0x${"11".repeat(65)}`;

let members: Address[];
let nowMs: number;
let held: HeldStatements;
const dataset = {
  ...{ address: `0x${"dd".repeat(20)}`, maxRoundAge: 300n },
  committee: {
    get current() {
      return { members };
    },
  },
} as unknown as Dataset;

const report = (value: number, more: Partial<ReportStatement> = {}): Statement => ({
  ...({ kind: "report", provider: A, key: KEY, round: ROUND, outcome: "OK", value: word(value), signature } as const),
  ...more,
});
const row = (values: readonly number[], more: Partial<RowStatement> = {}): Statement => ({
  ...({ kind: "row", provider: A, keys: [OTHER, KEY], round: ROUND, missing: 0n, signature } as const),
  ...{ values: values.map(word), ...more },
});

beforeEach(() => {
  members = [A, B];
  nowMs = Number(ROUND) * 1000 + 2_000;
  held = new HeldStatements(clockOf(() => nowMs));
});

test("a report and a row with the same value for a key contradict nothing, and each is compared with what comes later", () => {
  expect(held.add(dataset, report(5))).toBe("held");
  expect(held.add(dataset, row([7, 5]))).toBe("held");
  expect(held.add(dataset, report(5))).toBe("held");
  expect(held.contradictions).toEqual([]);
  expect(held.add(dataset, row([8, 5]))).toBe("contradicted");
  expect(held.contradictions).toMatchObject([{ key: OTHER, statements: [row([7, 5]), row([8, 5])] }]);
});

test.each<[string, Statement, Statement]>([
  ["two values", report(5), report(6)],
  ["a value and none", report(5), report(0, { outcome: "NOT_AVAILABLE" })],
  ["a report and a row", report(5), row([7, 6])],
  ["a row and a report", row([7, 6]), report(5)],
  ["a row without data and a report", row([7, 0], { missing: 2n }), report(5)],
  ["two rows", row([7, 5]), row([8, 6], { keys: [KEY, OTHER] })],
])("%s for one key and round contradict each other, and count against their signer alone", (_, a, b) => {
  held.add(dataset, report(9, { provider: B }));
  expect(held.add(dataset, a)).toBe("held");
  expect(held.add(dataset, b)).toBe("contradicted");
  expect(held.contradictions).toMatchObject([
    { dataset, provider: A, round: ROUND, statements: [a, b], foundAt: nowMs },
  ]);
  expect(held.add(dataset, report(5, { round: ROUND + 1n }))).toBe("contradicted");
  expect(held.add(dataset, report(9, { provider: B }))).toBe("held");
  expect(held.contradictions).toHaveLength(1);
});

test("different values for another round, another key or of another signer contradict nothing", () => {
  const others = [{ round: ROUND + 1n }, { key: OTHER }, { provider: B }];
  expect(held.add(dataset, report(5))).toBe("held");
  for (const more of others) expect(held.add(dataset, report(6, more))).toBe("held");
  expect(held.contradictions).toEqual([]);
});

test("a statement counts from when clocks may differ as long as the dataset would store its round", () => {
  expect(held.add(dataset, report(5, { round: ROUND + 12n }))).toBe("held");
  expect(held.add(dataset, report(5, { round: ROUND + 13n }))).toBe("old");
  expect(held.add(dataset, report(5))).toBe("held");
  expect(held.add(dataset, report(5, { provider: B }))).toBe("held");
  nowMs += 297_000;
  expect(held.add(dataset, report(6, { provider: B }))).toBe("contradicted");
  nowMs += 1_000;
  expect(held.add(dataset, report(6))).toBe("old");
  expect(held.contradictions).toMatchObject([{ provider: B }]);
});

test("a member that left the committee and came back counts again", () => {
  held.add(dataset, report(5));
  held.add(dataset, report(6));
  const [found] = held.contradictions;
  if (found === undefined) throw new Error("No contradiction was found.");
  held.settle(found);
  expect(held.contradictions).toEqual([]);
  expect(held.add(dataset, report(6, { round: ROUND + 1n }))).toBe("held");
  expect(held.add(dataset, report(7, { round: ROUND + 1n }))).toBe("contradicted");
});

test("of a signer that says more than a megabyte, the oldest rounds are dropped and the newest are compared", () => {
  const keys = Array.from({ length: 1_000 }, (_, i): Hex => `0x${(10_000 + i).toString(16)}`);
  const values = keys.map(() => 5);
  for (let round = ROUND; round < ROUND + 10n; round++) {
    expect(held.add(dataset, row(values, { keys, round }))).toBe("held");
  }
  const [key = KEY] = keys;
  expect(held.add(dataset, report(6, { key, round: ROUND }))).toBe("held");
  expect(held.add(dataset, report(6, { key, round: ROUND + 9n }))).toBe("contradicted");
});

test("statements about rounds that cannot be stored any more take no room", () => {
  held.add(dataset, report(5));
  nowMs += 300_000;
  expect(held.add(dataset, report(6, { round: ROUND + 300n }))).toBe("held");
  // Only a clock that is set back makes the first round storable again.
  nowMs -= 300_000;
  expect(held.add(dataset, report(6))).toBe("held");
});
