import { datasetAbi } from "@dataset-oracle/protocol/abi/dataset";
import {
  decodeErrorResult,
  encodeErrorResult,
  encodeFunctionData,
  encodeFunctionResult,
  type Hex,
  hexToNumber,
} from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createChainClient } from "../src/rpc/client.js";
import { connectEndpoint } from "../src/rpc/endpoint.js";
import { Simulator } from "../src/update/simulator.js";
import { startChain } from "./support/chain.js";
import { startRpcProxy } from "./support/rpc-proxy.js";

const chain = await startChain();
const dataset = await chain.deploy(["0x0000000000000000000000000000000000000001"]);
const proxy = await startRpcProxy(chain.url);
let simulator: Simulator;
let elapsed: number;
let closing: AbortController;

const READS = encodeFunctionData({ abi: datasetAbi, functionName: "queryPrice" });
const REVERTS = encodeFunctionData({ abi: datasetAbi, functionName: "setQueryPrice", args: [1n] });
const ON_PENDING = ["eth_call", "eth_estimateGas"];
const TRUSTED_MS = 600_000;

const run = (data: Hex = READS) => simulator.execute(dataset, data);
const asked = () => proxy.calls.splice(0).map(({ method }) => method);
/** Runs calls until the simulator trusts the node's simulation. */
const untilTrusted = () =>
  expect
    .poll(async () => {
      asked();
      await run();
      return asked();
    })
    .toEqual(["eth_simulateV1"]);

beforeEach(() => {
  elapsed = 0;
  proxy.calls.length = 0;
  const client = createChainClient(42, connectEndpoint(42, proxy.url, 5_000));
  closing = new AbortController();
  simulator = new Simulator(client, () => Date.now() + elapsed, closing.signal);
});

afterEach(() => {
  proxy.faults.clear();
  proxy.answers.clear();
  proxy.script = () => null;
});

test("the first call runs on pending, and the next ones in one simulated block that is newer than any round", async () => {
  const first = await run();
  expect(asked().slice(0, 2).toSorted()).toEqual(ON_PENDING);
  await untilTrusted();
  const before = Math.floor(Date.now() / 1000);
  expect(await run()).toEqual(first);
  const [{ method, params } = { method: "", params: [] }] = proxy.calls;
  const [{ blockStateCalls }, tag] = params as [
    { blockStateCalls: [{ blockOverrides: { time: Hex }; calls: unknown[] }] },
    string,
  ];
  expect([method, tag, proxy.calls.length]).toEqual(["eth_simulateV1", "latest", 1]);
  expect(blockStateCalls[0].calls).toEqual([{ to: dataset, data: READS }]);
  expect(hexToNumber(blockStateCalls[0].blockOverrides.time)).toBeGreaterThan(before);
});

test("the gas limit is 25% above the needed gas, either way", async () => {
  const needed = await chain.client.estimateGas({ to: dataset, data: READS });
  const expected = needed + needed / 4n;
  expect((await run()).gas).toBe(expected);
  await untilTrusted();
  expect((await run()).gas).toBe(expected);
});

test("a call's revert data is reported, either way", async () => {
  const revertOf = async () => {
    const error = await run(REVERTS).catch((reason) => reason);
    return [error.kind, decodeErrorResult({ abi: datasetAbi, data: error.data }).errorName];
  };
  expect(await revertOf()).toEqual(["refused", "OwnableUnauthorizedAccount"]);
  await untilTrusted();
  expect(await revertOf()).toEqual(["refused", "OwnableUnauthorizedAccount"]);
  expect(asked()).toEqual(["eth_simulateV1"]);
});

test.each([
  ["does not know it", { error: { code: -32601, message: "the method eth_simulateV1 does not exist" } }],
  ["answers an empty list", { result: [] }],
  ["answers another shape", { result: [{ calls: [{ status: true }] }] }],
  [
    "counts less gas than it estimates",
    { result: [{ calls: [{ returnData: "0x", gasUsed: "0x5208", status: "0x1" }] }] },
  ],
])("with a node that %s, calls run on pending, and simulation is not tried again for ten minutes", async (_, body) => {
  proxy.answers.set("eth_simulateV1", { body });
  // This estimate is more than 10% above the gas of the last case.
  proxy.answers.set("eth_estimateGas", { body: { result: "0x6000" } });
  await run();
  await expect.poll(() => proxy.calls.length).toBe(3);
  expect(asked().toSorted()).toEqual([...ON_PENDING, "eth_simulateV1"]);
  elapsed = TRUSTED_MS - 10_000;
  await run();
  expect(asked().toSorted()).toEqual(ON_PENDING);
  proxy.answers.clear();
  elapsed = TRUSTED_MS + 10_000;
  await untilTrusted();
});

test("when a node stops simulating, or refuses the block, the call runs on pending at once", async () => {
  await untilTrusted();
  proxy.answers.set("eth_simulateV1", { body: { error: { code: -38021, message: "timestamps must be in order" } } });
  const { result } = await run();
  expect(hexToNumber(result)).toBe(1_000);
  expect(asked().slice(0, 3)).toEqual(["eth_simulateV1", ...ON_PENDING]);
  proxy.answers.clear();
  elapsed = TRUSTED_MS + 10_000;
  await untilTrusted();
});

test("simulation and estimate are compared again after ten minutes", async () => {
  await untilTrusted();
  elapsed = TRUSTED_MS + 10_000;
  await run();
  expect(asked().slice(0, 2).toSorted()).toEqual(ON_PENDING);
});

test("an update that would change nothing is told from one that would be stored", async () => {
  const answer = (isNew: boolean) =>
    encodeFunctionResult({ abi: datasetAbi, functionName: "update", result: [3, isNew] });
  proxy.answers.set("eth_estimateGas", { body: { result: "0x10000" } });
  proxy.answers.set("eth_call", { body: { result: answer(true) } });
  expect(await simulator.simulateUpdate(dataset, "OK", READS)).toMatchObject({
    kind: "ok",
    status: "DISAGREEMENT",
  });
  proxy.answers.set("eth_call", { body: { result: answer(false) } });
  expect(await simulator.simulateUpdate(dataset, "OK", READS)).toEqual({ kind: "stale" });
});

test("an update of what is only pending would be stored: the transaction before it may never be mined", async () => {
  const update = (isNew: boolean) =>
    encodeFunctionResult({ abi: datasetAbi, functionName: "update", result: [1, isNew] });
  const batch = (outcomes: readonly number[]) =>
    encodeFunctionResult({ abi: datasetAbi, functionName: "updateBatch", result: outcomes });
  const answer = (onPending: Hex, onLatest: Hex) => {
    proxy.script = ({ method, params }) => {
      const isPending = params.includes("pending");
      if (method === "eth_call") return { body: { result: isPending ? onPending : onLatest } };
      return method === "eth_estimateGas" ? { body: { result: isPending ? "0x8000" : "0x10000" } } : null;
    };
  };
  answer(update(false), update(true));
  expect(await simulator.simulateUpdate(dataset, "OK", READS)).toMatchObject({ kind: "ok", gas: 0x14000n });
  answer(batch([0, 2]), batch([0, 0]));
  expect(await simulator.simulateBatch(dataset, READS)).toEqual({ isStored: [true, true], gas: 0x14000n });
});

test("of a batch, only the keys whose outcome is STORED are stored", async () => {
  const result = encodeFunctionResult({ abi: datasetAbi, functionName: "updateBatch", result: [0, 6, 2, 0] });
  proxy.answers.set("eth_estimateGas", { body: { result: "0x10000" } });
  proxy.answers.set("eth_call", { body: { result } });
  expect(await simulator.simulateBatch(dataset, READS)).toMatchObject({ isStored: [true, false, false, true] });
});

test("an EVM that lacks an instruction is named", async () => {
  for (const method of ON_PENDING) {
    proxy.answers.set(method, { body: { error: { code: -32000, message: "invalid opcode: MCOPY" } } });
  }
  const title = expect.stringContaining("invalid opcode");
  expect(await simulator.simulateUpdate(dataset, "OK", READS)).toMatchObject({
    kind: "refused",
    problem: { title },
  });
});

test("a failed endpoint does not change how the call is run", async () => {
  await untilTrusted();
  proxy.faults.set("eth_simulateV1", "HTTP 500");
  await expect(run()).rejects.toMatchObject({ kind: "failed", method: "eth_simulateV1" });
  expect(asked()).toEqual(["eth_simulateV1"]);
});

describe("without the pending block, a call runs on the latest", () => {
  const error = { code: -32000, message: "pending block is not available" };
  const refusePending = ({ params }: { params: readonly unknown[] }) =>
    params.includes("pending") ? { body: { error } } : null;

  test("with another time, or with its own where that cannot be replaced", async () => {
    const expected = await run();
    proxy.script = refusePending;
    proxy.answers.set("eth_simulateV1", { body: { error: { code: -32601, message: "method not found" } } });
    asked();
    expect(await run()).toEqual(expected);
    const tooMany = { code: -32602, message: "too many arguments, want at most 2" };
    proxy.script = (call) => (call.params.length > 2 ? { body: { error: tooMany } } : refusePending(call));
    proxy.calls.length = 0;
    expect(await run()).toEqual(expected);
    const tags = proxy.calls.filter(({ method }) => method === "eth_call").map(({ params }) => params.slice(1));
    expect(tags).toEqual([["pending"], ["latest", {}, { time: expect.any(String) }], ["latest"]]);
  });

  test("and what the chain answers is final", async () => {
    proxy.script = refusePending;
    await expect(run(REVERTS)).rejects.toMatchObject({ kind: "refused", meaning: "reverted" });
  });
});

describe("a node whose clock is behind a round", () => {
  const ROUND = 1_790_000_000n;
  const update = () => simulator.simulateUpdate(dataset, "OK", READS);
  /** Lets the node refuse the update as a dataset does when the chain's clock is behind its round. */
  const fallBehind = (seconds: bigint) => {
    const data = encodeErrorResult({ abi: datasetAbi, errorName: "FutureRound", args: [ROUND, ROUND - seconds] });
    for (const method of ON_PENDING) {
      proxy.answers.set(method, { body: { error: { code: 3, message: "execution reverted", data } } });
    }
  };
  const catchUp = () => {
    const result = encodeFunctionResult({ abi: datasetAbi, functionName: "update", result: [1, true] });
    proxy.answers.set("eth_call", { body: { result } });
    proxy.answers.set("eth_estimateGas", { body: { result: "0x10000" } });
  };

  test("is waited for, and its simulations are not trusted", async () => {
    fallBehind(1n);
    const updated = update();
    await expect.poll(() => proxy.calls.length).toBe(2);
    catchUp();
    expect(await updated).toMatchObject({ kind: "ok", gas: 0x10000n + 0x4000n });
    expect(asked().toSorted()).toEqual([...ON_PENDING, ...ON_PENDING].toSorted());
  });

  test("is not waited for when it is too far behind, or the operator shuts down", async () => {
    const refused = { kind: "refused", problem: { code: "update_reverted", status: 503 } };
    fallBehind(16n);
    expect(await update()).toMatchObject(refused);
    expect(proxy.calls.length).toBe(2);
    fallBehind(9n);
    const updated = update();
    await expect.poll(() => proxy.calls.length).toBe(4);
    closing.abort();
    expect(await updated).toMatchObject(refused);
  });
});
