import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import { pino } from "pino";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { RpcError } from "../rpc/rpc-error.js";
import { GasBudget } from "./gas-budget.js";
import { TransactionQueue } from "./queue.js";

const POLL_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());

afterEach(() => vi.useRealTimers());

test("an idle queue that could not read the chain looks again at the next poll, to recover what is pending", async () => {
  const closing = new AbortController();
  const context = { clock: SYSTEM_CLOCK, random: () => 0, logger: pino({ level: "silent" }), closing: closing.signal };
  const limits = {
    stuckMs: 90_000,
    unseenMs: 3_000,
    lostMs: 10_000,
    maxPending: 4,
    reservedForFeeds: 0,
    reorgDepth: 8,
  };
  const fees = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, pollMs: POLL_MS };
  let asked = 0;
  const request = async (method: string) => {
    if (method === "eth_getTransactionCount") asked++;
    throw new RpcError("failed", 42, method, "no endpoint can be used");
  };
  const account = privateKeyToAccount(generatePrivateKey());
  const charge = () => new GasBudget(1n, SYSTEM_CLOCK).open();
  const queue = new TransactionQueue(
    createChainClient(42, { request }),
    account,
    { ...limits, ...fees },
    context,
    charge,
  );
  await queue.start();
  const before = asked;
  await vi.advanceTimersByTimeAsync(POLL_MS);
  expect(asked).toBe(2 * before);
  closing.abort();
});
