import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { encodeErrorResult, encodeFunctionResult, type Hex, numberToHex } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { meaningOf } from "../rpc/node-errors.js";
import { RpcError } from "../rpc/rpc-error.js";
import { DryRun } from "./dry-run.js";

const DATASET = "0x1111111111111111111111111111111111111111";
const DATA = "0x1234";
const ON_PENDING = ["eth_call", "eth_estimateGas"];
const TRUSTED_MS = 600_000;
const START_MS = 1_790_000_000_500;

type Refuse = (method: string, params: readonly unknown[]) => RpcError | null;

const update = (isNew: boolean, status = 1) =>
  encodeFunctionResult({ abi: datasetAbi, functionName: "update", result: [status, isNew] });
const batch = (outcomes: readonly number[]) =>
  encodeFunctionResult({ abi: datasetAbi, functionName: "updateBatch", result: outcomes });
const refusal = (method: string, message: string, data: Hex | null = null) => {
  const about = { method, isOfPending: false, status: 200, code: -32_000, message, hasRevertData: data !== null };
  return new RpcError("refused", 42, method, message, data, meaningOf(about));
};
const simulating = (...calls: readonly object[]) => [{ calls }];

/** A node that can do everything: it executes each call with this result and this gas. */
const node = {
  result: "0x" as Hex,
  /** The result where it differs on `pending`. */
  pendingResult: null as Hex | null,
  gas: numberToHex(0x10000),
  simulated: null as unknown,
  refuse: (() => null) as Refuse,
};
let calls: { readonly method: string; readonly params: readonly unknown[] }[];
let now: number;
let closing: AbortController;
let dryRun: DryRun;

beforeEach(() => {
  Object.assign(node, { result: update(true), pendingResult: null, gas: numberToHex(0x10000), simulated: null });
  node.refuse = () => null;
  calls = [];
  now = START_MS;
  closing = new AbortController();
  const request = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    calls.push({ method, params });
    const refused = node.refuse(method, params);
    if (refused !== null) throw refused;
    if (method === "eth_estimateGas") return node.gas;
    if (method === "eth_call") return (params.includes("pending") && node.pendingResult) || node.result;
    return node.simulated ?? simulating({ returnData: node.result, gasUsed: node.gas, status: "0x1" });
  };
  const context = { clock: clockOf(() => now), closing: closing.signal };
  dryRun = new DryRun(createChainClient(42, { request }), context);
});

afterEach(() => closing.abort());

const asked = () => calls.splice(0).map(({ method }) => method);
/** Executes a call, and waits for what follows from it. */
async function run(data: Hex = DATA) {
  const executed = await dryRun.call(DATASET, data).catch((error: unknown) => error as RpcError);
  await new Promise(setImmediate);
  return executed;
}

test("the first call runs on pending, and the next ones in one simulated block that is newer than any round", async () => {
  const executed = { result: node.result, gas: 0x14000n };
  expect(await run()).toEqual(executed);
  expect(asked()).toEqual([...ON_PENDING, "eth_simulateV1"]);
  expect(await run()).toEqual(executed);
  const time = numberToHex(Math.floor(START_MS / 1000) + 1);
  const block = { blockOverrides: { time }, calls: [{ to: DATASET, data: DATA }] };
  expect(calls).toEqual([{ method: "eth_simulateV1", params: [{ blockStateCalls: [block] }, "latest"] }]);
  asked();
  // Simulation and estimate are compared again after ten minutes.
  now += TRUSTED_MS + 1;
  await run();
  expect(asked()).toEqual([...ON_PENDING, "eth_simulateV1"]);
});

test("a call's revert data is reported, either way", async () => {
  const data = encodeErrorResult({ abi: datasetAbi, errorName: "NoQuorum", args: [1n, 3n] });
  node.refuse = (method) => refusal(method, "execution reverted", data);
  expect(await run()).toMatchObject({ kind: "refused", data });
  node.refuse = () => null;
  await run();
  asked();
  node.simulated = simulating({ returnData: data, gasUsed: node.gas, status: "0x0" });
  expect(await run()).toMatchObject({ kind: "refused", data });
  expect(asked()).toEqual(["eth_simulateV1"]);
});

test.each<[string, unknown, Refuse?]>([
  ["does not know it", null, (method) => (method === "eth_simulateV1" ? refusal(method, "method not found") : null)],
  ["counts less gas than it estimates", simulating({ returnData: "0x", gasUsed: "0x8000", status: "0x1" })],
])(
  "with a node that %s, calls run on pending, and simulation is not tried again for ten minutes",
  async (_, answer, refuse = () => null) => {
    Object.assign(node, { simulated: answer, refuse });
    await run();
    expect(asked()).toEqual([...ON_PENDING, "eth_simulateV1"]);
    now += TRUSTED_MS - 1;
    await run();
    expect(asked()).toEqual(ON_PENDING);
    Object.assign(node, { simulated: null, refuse: () => null });
    now += 1;
    for (const methods of [[...ON_PENDING, "eth_simulateV1"], ["eth_simulateV1"]]) {
      await run();
      expect(asked()).toEqual(methods);
    }
  },
);

test("when a node that was trusted refuses the block, the call runs on pending at once; when it fails, it fails", async () => {
  await run();
  asked();
  node.refuse = (method) => new RpcError("failed", 42, method, "answered HTTP 500");
  expect(await run()).toMatchObject({ kind: "failed", method: "eth_simulateV1" });
  expect(asked()).toEqual(["eth_simulateV1"]);
  node.refuse = (method) => (method === "eth_simulateV1" ? refusal(method, "timestamps must be in order") : null);
  expect(await run()).toEqual({ result: node.result, gas: 0x14000n });
  expect(asked().slice(0, 3)).toEqual(["eth_simulateV1", ...ON_PENDING]);
});

describe("an update", () => {
  test("that would change nothing is told from one that would be stored, and of a batch each key", async () => {
    node.result = update(true, 3);
    expect(await dryRun.update(DATASET, "OK", DATA)).toMatchObject({ kind: "ok", status: "DISAGREEMENT" });
    node.result = update(false);
    expect(await dryRun.update(DATASET, "OK", DATA)).toEqual({ kind: "stale" });
    node.result = batch([0, 6, 2, 0]);
    expect(await dryRun.batch(DATASET, DATA)).toMatchObject({
      isStored: [true, false, false, true],
      isRefused: [false, true, false, false],
    });
  });

  test("of what is only pending would be stored: the transaction before it may never be mined", async () => {
    node.pendingResult = update(false);
    expect(await dryRun.update(DATASET, "OK", DATA)).toMatchObject({ kind: "ok", gas: 0x14000n });
    Object.assign(node, { pendingResult: batch([0, 2]), result: batch([0, 0]) });
    now += TRUSTED_MS + 1;
    expect(await dryRun.batch(DATASET, DATA)).toMatchObject({ isStored: [true, true], gas: 0x14000n });
  });

  test("that an EVM cannot execute is refused with the instruction that it lacks", async () => {
    node.refuse = (method) => refusal(method, "invalid opcode: MCOPY");
    const error = { message: expect.stringContaining("invalid opcode") };
    await expect(dryRun.update(DATASET, "OK", DATA)).rejects.toMatchObject(error);
  });
});

describe("without the pending block, a call runs on the latest", () => {
  const refusePending: Refuse = (method, params) =>
    params.includes("pending") || method === "eth_simulateV1"
      ? refusal(method, "pending block is not available")
      : null;

  test("with another time, or with its own where that cannot be replaced", async () => {
    const expected = { result: node.result, gas: 0x14000n };
    node.refuse = refusePending;
    expect(await run()).toEqual(expected);
    calls = [];
    node.refuse = (method, params) =>
      params.length > 2 ? refusal(method, "too many arguments, want at most 2") : refusePending(method, params);
    expect(await run()).toEqual(expected);
    const tags = calls.filter(({ method }) => method === "eth_call").map(({ params }) => params.slice(1));
    expect(tags).toEqual([["pending"], ["latest", {}, { time: expect.any(String) }], ["latest"]]);
  });

  test("and what the chain answers is final", async () => {
    node.refuse = (method, params) => refusePending(method, params) ?? refusal(method, "execution reverted", "0x12");
    expect(await run()).toMatchObject({ kind: "refused", meaning: "reverted" });
  });
});

describe("a node whose clock is behind a round", () => {
  const simulate = () => dryRun.update(DATASET, "OK", DATA);
  /** Lets the node refuse the update as a dataset does when the chain's clock is behind its round. */
  const fallBehind = (seconds: bigint) => {
    const args = [1_790_000_000n, 1_790_000_000n - seconds] as const;
    const data = encodeErrorResult({ abi: datasetAbi, errorName: "FutureRound", args });
    node.refuse = (method) => refusal(method, "execution reverted", data);
  };

  test("is waited for, and its simulations are not trusted", async () => {
    fallBehind(1n);
    const updated = simulate();
    await expect.poll(() => calls.length).toBe(2);
    node.refuse = () => null;
    expect(await updated).toMatchObject({ kind: "ok", gas: 0x14000n });
    expect(asked()).toEqual([...ON_PENDING, ...ON_PENDING]);
  });

  test("is not waited for when it is too far behind, or the operator shuts down", async () => {
    const refused = { name: "UpdateReverted", error: expect.stringContaining("FutureRound") };
    // The second says that its clock is ahead of the round, and refuses it all the same.
    for (const [asked, seconds] of [
      [2, 16n],
      [4, -1n],
    ] as const) {
      fallBehind(seconds);
      await expect(simulate()).rejects.toMatchObject(refused);
      expect(calls.length).toBe(asked);
    }
    fallBehind(9n);
    const updated = simulate().catch((error: unknown) => error);
    await expect.poll(() => calls.length).toBe(6);
    closing.abort();
    expect(await updated).toMatchObject(refused);
  });
});
