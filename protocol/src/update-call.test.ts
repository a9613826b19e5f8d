import { concatHex, encodeFunctionData, type Hex } from "viem";
import { expect, test } from "vitest";
import vectors from "../vectors/packed-updates.json" with { type: "json" };
import { datasetAbi } from "./abi/dataset.js";
import { unpackUpdate } from "./packed-update.js";
import { decodeUpdateCall, encodeUpdateCall } from "./update-call.js";

const FUNCTIONS = [null, "update", "updateNotAvailable", "updateBatch"] as const;
const ALL = [...vectors.updates, ...vectors.batches].map(({ name, packed, kind }) => ({
  name,
  packed: packed as Hex,
  functionName: FUNCTIONS[kind] as NonNullable<(typeof FUNCTIONS)[number]>,
}));
const callOf = (functionName: NonNullable<(typeof FUNCTIONS)[number]>, packed: Hex) =>
  encodeFunctionData({ abi: datasetAbi, functionName, args: [packed] });

test.each(ALL)("packed bytes become the call of the function for their kind: $name", ({ packed, functionName }) => {
  const call = callOf(functionName, packed);
  expect(encodeUpdateCall(packed)).toBe(call);
  expect(unpackUpdate(packed)).toEqual({ ok: true, value: decodeUpdateCall(call) });
});

test("bytes behind the argument are ignored", () => {
  for (const { packed } of ALL) {
    const call = encodeUpdateCall(packed);
    expect(decodeUpdateCall(concatHex([call, "0x0badc0de"]))).toEqual(decodeUpdateCall(call));
  }
});

test("bytes in the call of another function are no update", () => {
  for (const { packed, functionName } of ALL) {
    for (const other of ["update", "updateNotAvailable", "updateBatch", "verify", "announce"] as const) {
      if (other === functionName) continue;
      expect(decodeUpdateCall(encodeFunctionData({ abi: datasetAbi, functionName: other, args: [packed] }))).toBeNull();
    }
  }
});

test("bytes with a fault are no update", () => {
  for (const { packed, kind } of vectors.faults) {
    expect(decodeUpdateCall(callOf(FUNCTIONS[kind] as "update", packed as Hex))).toBeNull();
  }
});

test("calldata that ends before its argument is no update", () => {
  const { packed } = ALL[0] as (typeof ALL)[number];
  const call = encodeUpdateCall(packed);
  for (const length of [2, 8, 10, 74, 138, 300]) expect(decodeUpdateCall(call.slice(0, length) as Hex)).toBeNull();
});

test("bytes of no kind have no call", () => {
  for (const bytes of ["0x", "0x00", "0x0412"] as const) {
    expect(() => encodeUpdateCall(bytes)).toThrow("Pass a packed update.");
  }
});
