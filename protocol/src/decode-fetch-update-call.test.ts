import { type Address, encodeFunctionData, type Hex, stringToHex, toHex } from "viem";
import { expect, test } from "vitest";
import { updateGatewayAbi } from "./abi/update-gateway.js";
import { decodeFetchUpdateCall } from "./decode-fetch-update-call.js";

const DATASET: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const callOf = (key: Hex) =>
  encodeFunctionData({ abi: updateGatewayAbi, functionName: "fetchUpdate", args: [DATASET, key] });
const CALL = callOf(stringToHex("SPOTPX/ETH-USD"));

/** Returns the call with another word. */
function withWord(index: number, word: Hex): string {
  const words = CALL.slice(10).match(/.{64}/g) ?? [];
  return `${CALL.slice(0, 10)}${words.map((old, i) => (i === index ? word.slice(2) : old)).join("")}`;
}
const word = (value: bigint) => toHex(value, { size: 32 });

test.each([
  ["as a lens writes it", CALL],
  ["with digits in either case", CALL.replace(/a/g, "A")],
])("a call is parsed %s", (_, call) => {
  expect(decodeFetchUpdateCall(call)).toEqual({ dataset: DATASET, key: stringToHex("SPOTPX/ETH-USD") });
});

test.each([
  ["an address with more than 20 bytes", withWord(0, word(2n ** 160n + BigInt(DATASET)))],
  ["a key elsewhere", withWord(1, word(0x60n))],
  ["a key that is longer than the call", withWord(2, word(2n ** 64n))],
  ["a key that is shorter than the call", withWord(2, word(3n))],
  ["another function", `0xdeadbeef${CALL.slice(10)}`],
  ["a trailing byte", `${CALL}00`],
  ["dirty padding", `${CALL.slice(0, -1)}1`],
  ["an odd number of digits", CALL.slice(0, -1)],
])("a call with %s is none", (_, call) => {
  expect(decodeFetchUpdateCall(call)).toBeNull();
});
