import { parseAbi } from "viem";
import { describe, expect, test } from "vitest";
import { datasetAbi } from "./abi/dataset.js";
import { oracleAbi } from "./abi/oracle.js";

const functions = datasetAbi.filter((item) => item.type === "function");

describe("the ABI", () => {
  test("has the published Oracle interface", () => {
    const published = parseAbi([
      "function query(bytes input) external payable returns (bytes32 output, uint256 updatedAt, uint8 status)",
      "function queryPrice() external view returns (uint256)",
    ]);
    const unnamed = (abi: readonly unknown[]) =>
      JSON.parse(JSON.stringify(abi, (name, value) => (name === "name" && value === "" ? undefined : value)));
    expect(unnamed(oracleAbi)).toEqual(unnamed(published));
    expect(datasetAbi).toEqual(expect.arrayContaining([...oracleAbi]));
  });

  test("has no function that takes a key and reads for nothing, except `read`, for subscribers", () => {
    const ofMutability = (mutability: string) =>
      functions.filter(({ stateMutability }) => (stateMutability as string) === mutability);
    const views = ofMutability("view").filter(({ inputs }) => inputs.some(({ name }) => /key/i.test(name)));
    expect(views.map(({ name }) => name)).toEqual(["read"]);
    const payable = ofMutability("payable").map(({ name }) => name);
    expect(payable).toEqual(["query", "subscribe", "verify", "verifyNotAvailable"]);
  });
});
