import { committeeDirectoryAbi } from "@dataset-oracle/protocol/abi/committee-directory";
import { pino } from "pino";
import { type Address, encodeFunctionResult, type Hex } from "viem";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createChainClient } from "../rpc/client.js";
import { RpcError } from "../rpc/rpc-error.js";
import { ProviderUrls } from "./provider-urls.js";

const DIRECTORY: Address = "0x0000000000000000000000000000000000000d1e";
const MEMBER: Address = "0x000000000000000000000000000000000000aaaa";
const POLL_MS = 1_000;

let closing: AbortController;

beforeEach(() => {
  closing = new AbortController();
  vi.useFakeTimers();
});

afterEach(() => {
  closing.abort();
  vi.useRealTimers();
});

test("the directory is read at every fifth poll, and after a failure at the next one", async () => {
  let url = "https://old.example";
  let failing: RpcError | null = null;
  let reads = 0;
  const request = async (method: string, [call]: readonly unknown[]): Promise<unknown> => {
    if (method === "eth_getCode") return "0x60";
    // Only calls of one contract are answered.
    if ((call as { to?: Address }).to !== DIRECTORY) throw new RpcError("refused", 42, method, "not supported");
    reads++;
    if (failing !== null) throw failing;
    return encodeFunctionResult({
      abi: committeeDirectoryAbi,
      functionName: "announcementOf",
      result: [url, 1n],
    }) as Hex;
  };
  const urls = new ProviderUrls(pino({ level: "silent" }), new Map());
  await urls.follow(createChainClient(42, { request }), DIRECTORY, () => [MEMBER], POLL_MS, closing.signal);
  url = "https://new.example";
  await vi.advanceTimersByTimeAsync(4 * POLL_MS);
  expect([urls.urlOf(MEMBER), reads]).toEqual(["https://old.example", 1]);
  failing = new RpcError("failed", 42, "eth_call", "no endpoint can be used");
  await vi.advanceTimersByTimeAsync(POLL_MS);
  expect(reads).toBe(2);
  failing = null;
  await vi.advanceTimersByTimeAsync(POLL_MS);
  expect([urls.urlOf(MEMBER), reads]).toEqual(["https://new.example", 3]);
  await vi.advanceTimersByTimeAsync(4 * POLL_MS);
  expect(reads).toBe(3);
});
