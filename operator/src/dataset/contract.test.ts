import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { encodeErrorResult, numberToHex, parseAbi } from "viem";
import { describe, expect, test } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { RpcError } from "../rpc/rpc-error.js";
import { DatasetUnreadable, readKindAndForm, readTogether, readView } from "./contract.js";

const dataset = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

describe("the kind and the key form of a dataset", () => {
  const NEW_HEAD = { number: "0x1", gasLimit: "0x1", timestamp: numberToHex(Math.floor(Date.now() / 1_000)) };
  const word = (index: number) => numberToHex(index, { size: 32 });
  const reverts = () => new RpcError("refused", 42, "eth_call", "execution reverted", null, "reverted");
  /** Reads them where each endpoint has these answers to `eth_call` and `eth_getCode`. */
  const read = (...endpoints: readonly (readonly [call: unknown, code: string])[]) => {
    const requestEach = async (method: string) => {
      const answers = endpoints.map(([call, code]) => (method === "eth_call" ? call : code));
      const results = answers.filter((answer) => !(answer instanceof Error));
      if (results.length === 0) throw answers[0];
      return results;
    };
    return readKindAndForm(
      { client: createChainClient(42, { request: async () => NEW_HEAD, requestEach }), address: dataset },
      SYSTEM_CLOCK,
    );
  };

  test.each([
    ["says that the calls revert", [reverts(), "0x60"]],
    ["has no such contract", ["0x", "0x"]],
    ["names neither", [word(7), "0x60"]],
  ] as const)("are read where one endpoint answers, and the other %s", async (_, other) => {
    const found = { kind: "majority", keyForm: "WEB_ORACLE" };
    expect(await read(other, [word(1), "0x60"])).toEqual(found);
    expect(await read([word(1), "0x60"], other)).toEqual(found);
  });

  test("are read again later where endpoints disagree", async () => {
    await expect(read([word(0), "0x60"], [word(1), "0x60"])).rejects.toThrow(DatasetUnreadable);
    await expect(read([reverts(), "0x60"], ["0x", "0x"])).rejects.toThrow(DatasetUnreadable);
  });

  test.each([
    ["another contract: it does not answer as a dataset does", [reverts(), "0x60"]],
    ["another contract: it does not answer as a dataset does", ["0x", "0x60"]],
    ["not a contract", ["0x", "0x"]],
  ] as const)("are refused where the address is %s, by all endpoints", async (fault, answers) => {
    const refused = read(answers, answers);
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow(fault);
  });
});

describe("a read of a contract", () => {
  /** Reads from a chain that gives this answer, or ends in this error. */
  const read = (answer: unknown, asked: string[] = []) => {
    const request = async (method: string) => {
      asked.push(method);
      if (answer instanceof Error) throw answer;
      return answer;
    };
    return readView({ client: createChainClient(42, { request }), address: dataset }, "queryPrice");
  };
  test.each(["0x", "0x12"])("that answers %s fails, because no dataset answers that", async (result) => {
    await expect(read(result)).rejects.toMatchObject({ kind: "failed", method: "eth_call" });
  });

  test("that reverts is refused with its revert data, and follows no URL that the contract names", async () => {
    const lookup = encodeErrorResult({
      abi: parseAbi(["error OffchainLookup(address sender, string[] urls, bytes data, bytes4 callback, bytes extra)"]),
      args: [dataset, ["http://127.0.0.1:1"], "0x", "0x00000000", "0x"],
    });
    const asked: string[] = [];
    const reverted = new RpcError("refused", 42, "eth_call", "execution reverted", lookup, "reverted");
    await expect(read(reverted, asked)).rejects.toMatchObject({ kind: "refused", data: lookup });
    expect(asked).toEqual(["eth_call"]);
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

  test.each([
    ["fewer", ITEMS.slice(0, 0).map(String)],
    ["more", [...ITEMS, 301].map(String)],
  ])("each by itself, where a node answers about %s than were asked for", async (_, answer) => {
    expect(
      await readTogether(
        ITEMS,
        async () => answer,
        async (item) => String(item),
      ),
    ).toEqual(ITEMS.map(String));
  });

  test("or not at all, where no endpoint answers", async () => {
    const failed = rpcError("failed");
    const readOne = async () => "";
    await expect(readTogether(ITEMS, () => Promise.reject(failed), readOne)).rejects.toBe(failed);
  });
});
