import { parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { datasetAbi } from "./abi/dataset.js";
import { oracleAbi } from "./abi/oracle.js";

const functions = datasetAbi.filter((item) => item.type === "function");

describe("the ABI", () => {
  it("has the published Oracle interface", () => {
    const published = parseAbi([
      "function query(bytes input) external payable returns (bytes32 output, uint256 updatedAt, uint8 status)",
      "function queryPrice() external view returns (uint256)",
    ]);
    const unnamed = (abi: readonly unknown[]) =>
      JSON.parse(JSON.stringify(abi, (name, value) => (name === "name" && value === "" ? undefined : value)));
    expect(unnamed(oracleAbi)).toEqual(unnamed(published));
    expect(datasetAbi).toEqual(expect.arrayContaining([...oracleAbi]));
  });

  it("has no view function that returns a data point, except `read`, for subscribers", () => {
    const views = functions.filter(({ stateMutability }) => stateMutability === "view").map(({ name }) => name);
    expect(views).toEqual([
      "committeeBlock",
      "committeeHash",
      "costOfSubscription",
      "eip712Domain",
      "keyForm",
      "maxRoundAge",
      "owner",
      "pendingOwner",
      "priceCeiling",
      "queryPrice",
      "read",
      "subscribedUntil",
      "unpaidShares",
      "unsharedIncomeOf",
    ]);
    const payable = functions.filter((item) => (item.stateMutability as string) === "payable").map(({ name }) => name);
    expect(payable).toEqual(["query", "subscribe", "verify", "verifyNotAvailable"]);
  });
});
