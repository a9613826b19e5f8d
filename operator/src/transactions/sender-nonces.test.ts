import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import { numberToHex } from "viem";
import { beforeEach, expect, test } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { SenderNonces } from "./sender-nonces.js";

const SENDER = "0x1111111111111111111111111111111111111111";
const MAX_JUMP = 16;
const TEN_MINUTES_MS = 600_000;
const POOLED = { nonce: "0x5", hash: `0x${"5".repeat(64)}`, to: SENDER, input: "0x", gas: "0x1", gasPrice: "0x1" };

/** The counts that each endpoint shows; the first answers reads. */
let endpoints: { mined: number; pending: number }[];
let nowMs: number;
let nonces: SenderNonces;

beforeEach(() => {
  endpoints = [{ mined: 5, pending: 7 }];
  nowMs = 0;
  const countOf = (index: number, params: readonly unknown[]) => {
    const { mined, pending } = endpoints[index] ?? { mined: 0, pending: 0 };
    return numberToHex(params.includes("pending") ? pending : mined);
  };
  const client = createChainClient(42, {
    request: async (method, params) =>
      method === "txpool_contentFrom" ? { pending: { 5: POOLED }, queued: {} } : countOf(0, params),
    requestEach: async (_, params) => endpoints.map((_one, index) => countOf(index, params)),
  });
  nonces = new SenderNonces(
    client,
    SENDER,
    MAX_JUMP,
    50,
    clockOf(() => nowMs),
    pino({ level: "silent" }),
  );
});

test("the counts of mined and pending transactions are read, and no fewer are pending than mined", async () => {
  expect(await nonces.readCounts(0)).toEqual({ mined: 5, pending: 7 });
  endpoints = [{ mined: 9, pending: 8 }];
  expect(await nonces.readCounts(9)).toEqual({ mined: 9, pending: 9 });
});

test.each([
  ["50 mined transactions too many", { mined: 55, pending: 57 }],
  ["1,000 pending transactions too many", { mined: 5, pending: 1_007 }],
  ["2^40 pending transactions", { mined: 5, pending: 2 ** 40 }],
])("%s are not believed, unless another endpoint shows fewer", async (_, lie) => {
  await nonces.readCounts(7);
  endpoints = [lie];
  await expect(nonces.readCounts(7)).rejects.toMatchObject({ code: "rpc_failed", method: "eth_getTransactionCount" });
  endpoints = [lie, { mined: 6, pending: 7 }];
  expect(await nonces.readCounts(7)).toMatchObject({ pending: 7 });
});

test("as many as other processes can have sent are believed, and a jump of mined ones after ten minutes", async () => {
  await nonces.readCounts(7);
  endpoints = [{ mined: 7 + MAX_JUMP, pending: 7 + MAX_JUMP }];
  expect(await nonces.readCounts(7)).toMatchObject({ mined: 7 + MAX_JUMP });
  endpoints = [{ mined: 500, pending: 500 }];
  await expect(nonces.readCounts(7)).rejects.toThrow();
  nowMs += TEN_MINUTES_MS - 1;
  await expect(nonces.readCounts(7)).rejects.toThrow();
  nowMs += 1;
  expect(await nonces.readCounts(7)).toMatchObject({ mined: 500 });
});

test("a pending transaction that the node's pool does not show counts as stuck ten minutes later than others", async () => {
  expect(await nonces.findForeign(await nonces.readCounts(5), () => false)).toMatchObject([{ nonce: 5 }]);
  expect(nonces.stuckSince).toEqual(
    new Map([
      [5, 0],
      [6, TEN_MINUTES_MS],
    ]),
  );
});
