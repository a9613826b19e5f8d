import { decodeFunctionData, type Hex, keccak256, stringToHex } from "viem";
import { expect, test } from "vitest";
import { datasetAbi } from "./abi/dataset.js";
import type { Committee } from "./committee-hash.js";
import { encodeAccusation } from "./encode-accusation.js";

const committee: Committee = {
  members: ["0x0000000000000000000000000000000000000011", "0x0000000000000000000000000000000000000022"],
  toleranceBps: 100n,
};
const [key, other] = ["SPOTPX/ETH-USD", "SPOTPX/BTC-USD"].map((text) => stringToHex(text)) as [Hex, Hex];
const word = (digit: string): Hex => `0x${digit.repeat(64)}`;
const signature: Hex = `0x${"a".repeat(64)}${"1".repeat(64)}1c`;
const compact = { r: word("a"), vs: `0x9${"1".repeat(63)}` };

test("encodes a report and a row, each with the place of the key", () => {
  const report = { outcome: "NOT_AVAILABLE", value: word("0"), signature } as const;
  const row = { keys: [other, key], missing: 1n, values: [word("0"), word("2")], signature };
  const { functionName, args } = decodeFunctionData({
    abi: datasetAbi,
    data: encodeAccusation({ key, round: 1_790_000_000n }, report, row, committee),
  });
  expect([functionName, args]).toEqual([
    "accuse",
    [
      keccak256(key),
      1_790_000_000n,
      { outcome: 2n, keyHashes: [], values: [word("0")], index: 0n, ...compact },
      {
        outcome: 1n,
        keyHashes: [keccak256(other), keccak256(key)],
        values: [word("0"), word("2")],
        index: 1n,
        ...compact,
      },
      committee.members,
      committee.toleranceBps,
    ],
  ]);
});

test("refuses a row without the key", () => {
  const row = { keys: [other], missing: 0n, values: [word("1")], signature };
  expect(() => encodeAccusation({ key, round: 1n }, row, row, committee)).toThrow("does not have the key");
});
