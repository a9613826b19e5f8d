import { encodeErrorResult, parseAbi } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StubRpcs } from "../../test/support/stub-rpcs.js";
import { RpcError } from "../rpc/rpc-error.js";
import { chunksOf, readTogether, readView } from "./contract.js";

let rpcs: StubRpcs;

beforeEach(() => {
  rpcs = new StubRpcs();
});

afterEach(() => rpcs.close());

describe("a read of a contract", () => {
  const dataset = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
  const revert = (data: string) => ({ answer: { error: { code: 3, message: "execution reverted", data } } });

  test("that reverts is refused, with its revert data", async () => {
    const client = await rpcs.connect(await rpcs.start(revert("0x1234")));
    const error = await readView({ client, address: dataset }, "queryPrice").catch((reason) => reason);
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({ kind: "refused", method: "eth_call", data: "0x1234" });
  });

  test.each(["0x", "0x12"])("that answers %s fails, because no dataset answers that", async (result) => {
    const client = await rpcs.connect(await rpcs.start({ answer: { result } }));
    await expect(readView({ client, address: dataset }, "queryPrice")).rejects.toMatchObject({
      kind: "failed",
      method: "eth_call",
    });
  });

  test("does not follow a URL that the contract names", async () => {
    const node = await rpcs.start();
    const client = await rpcs.connect(node);
    const lookup = encodeErrorResult({
      abi: parseAbi(["error OffchainLookup(address sender, string[] urls, bytes data, bytes4 callback, bytes extra)"]),
      args: [dataset, [node.url], "0x", "0x00000000", "0x"],
    });
    Object.assign(node, revert(lookup), { asked: [] });
    await expect(readView({ client, address: dataset }, "queryPrice")).rejects.toMatchObject({
      kind: "refused",
      data: lookup,
    });
    expect(node.asked.filter((method) => method !== "eth_getBlockByNumber")).toEqual(["eth_call"]);
  });
});

describe("many items are read", () => {
  const ITEMS = Array.from({ length: 301 }, (_, i) => i);
  const rpcError = (kind: "refused" | "failed") => new RpcError(kind, 42, "eth_call", "");

  test("300 with a call", async () => {
    const calls: number[] = [];
    const readAll = async (some: readonly number[]) => {
      calls.push(some.length);
      return some.map(String);
    };
    const readOne = () => Promise.reject(new Error("not needed"));
    expect(await readTogether(ITEMS, readAll, readOne)).toEqual(ITEMS.map(String));
    expect(calls).toEqual([300, 1]);
  });

  test.each([
    ["refuses what such a call needs", rpcError("refused")],
    ["ignores it, so that the answer cannot be decoded", new Error("no data")],
  ])("each by itself, eight at a time, where a node %s", async (_, error) => {
    let [running, most] = [0, 0];
    const readOne = async (item: number) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return String(item);
    };
    expect(await readTogether(ITEMS, () => Promise.reject(error), readOne)).toEqual(ITEMS.map(String));
    expect(most).toBe(8);
  });

  test("or not at all, where no endpoint answers", async () => {
    const failed = rpcError("failed");
    const readOne = async () => "";
    await expect(readTogether(ITEMS, () => Promise.reject(failed), readOne)).rejects.toBe(failed);
  });
});

test("a list is cut into chunks of a size, the last one shorter", () => {
  expect(chunksOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunksOf([1, 2], 2)).toEqual([[1, 2]]);
  expect(chunksOf([], 2)).toEqual([]);
});
