import fc from "fast-check";
import { numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import { type ChainClient, createChainClient } from "../rpc/client.js";
import { RpcError } from "../rpc/rpc-error.js";
import { bumpFees, covers, type Fees, feesFor, readNetworkFees } from "./fees.js";

/** A node that answers from a table; null refuses the method. */
function node(answers: Record<string, unknown>): ChainClient {
  return createChainClient(42, {
    async request(method) {
      if (answers[method] === null) throw new RpcError("refused", 42, method, "-32601: not supported");
      return answers[method];
    },
  });
}

const capsOf = (cap: bigint) => ({ maxFeePerGas: cap, maxPriorityFeePerGas: cap });

const readFees = async (client: ChainClient, cap: bigint) => feesFor(await readNetworkFees(client), capsOf(cap));

const CAP = 2_000_000_000n;
const BLOCK = { baseFeePerGas: numberToHex(100n) };

const legacy = (gasPrice: bigint): Fees => ({ type: "legacy", maxFeePerGas: gasPrice, maxPriorityFeePerGas: 0n });

test("pays twice the base fee and the suggested priority fee", async () => {
  const client = node({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: "0x7" });
  expect(await readFees(client, CAP)).toEqual({ type: "eip1559", maxFeePerGas: 207n, maxPriorityFeePerGas: 7n });
});

test("pays a priority fee of one gwei where none is suggested", async () => {
  const client = node({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: null });
  expect(await readFees(client, CAP)).toMatchObject({ maxPriorityFeePerGas: 1_000_000_000n });
});

test("pays the gas price on a chain without a base fee", async () => {
  const client = node({ eth_getBlockByNumber: {}, eth_gasPrice: "0x9" });
  expect(await readFees(client, CAP)).toEqual(legacy(9n));
});

test("pays no more than the cap, which includes the priority fee", async () => {
  const client = node({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: "0xffffffffff" });
  expect(await readFees(client, CAP)).toEqual({ type: "eip1559", maxFeePerGas: CAP, maxPriorityFeePerGas: CAP });
  const cheap = node({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: "0x7" });
  expect(await readFees(cheap, 100n)).toEqual({ type: "eip1559", maxFeePerGas: 100n, maxPriorityFeePerGas: 7n });
});

test.each([
  ["a base fee", { eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: "0x7" }],
  ["a gas price", { eth_getBlockByNumber: {}, eth_gasPrice: "0x64" }],
])("no fees are offered when %s exceeds the cap", async (_, answers) => {
  expect(await readFees(node(answers), 99n)).toBe(null);
});

const dynamic = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): Fees => ({
  type: "eip1559",
  maxFeePerGas,
  maxPriorityFeePerGas,
});

describe("a replacement", () => {
  test.each<[string, Fees, Fees | null, Fees | null]>([
    ["pays 12.5% more of both", dynamic(800n, 80n), dynamic(1n, 1n), dynamic(901n, 91n)],
    ["pays the current fees where these are higher", dynamic(800n, 80n), dynamic(5_000n, 7n), dynamic(5_000n, 91n)],
    [
      "pays the cap where 12.5% more exceeds it but 10% more does not",
      dynamic(9_000n, 8n),
      null,
      dynamic(10_000n, 10n),
    ],
    ["is impossible where 10% more exceeds the cap", dynamic(9_091n, 8n), null, null],
    ["raises a priority fee of 0 too", dynamic(800n, 0n), null, dynamic(901n, 1n)],
    ["never pays a priority fee above the maximum fee", dynamic(10n, 10n), dynamic(20n, 20n), dynamic(20n, 20n)],
    ["raises a gas price", legacy(80n), null, legacy(91n)],
  ])("%s", (_, before, today, after) => {
    expect(bumpFees(before, today, capsOf(10_000n))).toEqual(after);
  });

  test("is accepted by nodes that require 10% more, and stays within the cap", () => {
    const price = fc.bigInt(0n, 10n ** 12n);
    fc.assert(
      fc.property(price, price, price, (a, b, cap) => {
        const [tip, max] = a < b ? [a, b] : [b, a];
        const after = bumpFees(dynamic(max, tip), null, capsOf(cap));
        if (after === null) {
          expect(max + max / 10n + 1n > cap).toBe(true);
          return;
        }
        expect(after.maxFeePerGas * 100n > max * 110n || max === 0n).toBe(true);
        expect(after.maxPriorityFeePerGas * 100n > tip * 110n || tip === 0n).toBe(true);
        expect(after.maxPriorityFeePerGas <= after.maxFeePerGas && after.maxFeePerGas <= cap).toBe(true);
      }),
      { seed: 1 },
    );
  });
});

test("fees cover the next block when they reach its base fee", () => {
  expect(covers(dynamic(100n, 1n), { type: "eip1559", baseFee: 100n, priorityFee: 1n })).toBe(true);
  expect(covers(dynamic(99n, 1n), { type: "eip1559", baseFee: 100n, priorityFee: 1n })).toBe(false);
  expect(covers(legacy(1n), { type: "legacy", baseFee: 9n, priorityFee: 0n })).toBe(true);
});
