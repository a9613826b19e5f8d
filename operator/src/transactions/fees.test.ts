import fc from "fast-check";
import { numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import { type ChainClient, createChainClient } from "../rpc/client.js";
import { classifyNodeError } from "../rpc/node-errors.js";
import { RpcError } from "../rpc/rpc-error.js";
import {
  bumpFees,
  covers,
  type Fees,
  feesAfterRefusal,
  feesFor,
  namedMinimum,
  raiseToAsked,
  readMarket,
  replacementCaps,
} from "./fees.js";

/** A node that answers from a table, in which null refuses the method. */
function node(answers: Record<string, unknown>): ChainClient {
  return createChainClient(42, {
    async request(method) {
      const answer = answers[method];
      if (answer === null) throw new RpcError("refused", 42, method, "-32601: not supported");
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
}

const capsOf = (cap: bigint) => ({ maxFeePerGas: cap, maxPriorityFeePerGas: cap });

const readFees = async (client: ChainClient, cap: bigint) => feesFor(await readMarket(client), capsOf(cap));

const CAP = 2_000_000_000n;
const OLD_BLOCK = { number: "0x7", hash: numberToHex(7, { size: 32 }), timestamp: "0x7", gasLimit: "0x1c9c380" };
const BLOCK = { ...OLD_BLOCK, baseFeePerGas: numberToHex(100n) };

const legacy = (gasPrice: bigint): Fees => ({ type: "legacy", maxFeePerGas: gasPrice, maxPriorityFeePerGas: 0n });

const dynamic = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint): Fees => ({
  type: "eip1559",
  maxFeePerGas,
  maxPriorityFeePerGas,
});

test.each<[string, Record<string, unknown>, bigint, Fees]>([
  ["twice the base fee and the suggested priority fee", { eth_maxPriorityFeePerGas: "0x7" }, CAP, dynamic(207n, 7n)],
  [
    "a priority fee of one gwei where none is suggested",
    { eth_maxPriorityFeePerGas: null },
    CAP,
    dynamic(1_000_000_200n, 1_000_000_000n),
  ],
  [
    "the gas price on a chain without a base fee",
    { eth_getBlockByNumber: OLD_BLOCK, eth_gasPrice: "0x9" },
    CAP,
    legacy(9n),
  ],
  ["no more than the cap for both fees", { eth_maxPriorityFeePerGas: "0xffffffffff" }, CAP, dynamic(CAP, CAP)],
  ["no more than the cap for the base fee", { eth_maxPriorityFeePerGas: "0x7" }, 100n, dynamic(100n, 7n)],
])("pays %s", async (_, answers, cap, fees) => {
  expect(await readFees(node({ eth_getBlockByNumber: BLOCK, ...answers }), cap)).toEqual(fees);
});

test.each([
  ["a base fee", { eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: "0x7" }],
  ["a gas price", { eth_getBlockByNumber: OLD_BLOCK, eth_gasPrice: "0x64" }],
])("no fees are offered when %s exceeds the cap", async (_, answers) => {
  expect(await readFees(node(answers), 99n)).toBe(null);
});

test("the priority fee has a cap of its own, of which a replacement may pay twice as much", () => {
  const network = { type: "eip1559", baseFee: 100n, priorityFee: 50n } as const;
  expect(feesFor(network, { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 10n })).toEqual(dynamic(210n, 10n));
  expect(replacementCaps({ maxFeePerGas: 30n, maxPriorityFeePerGas: 10n }).maxPriorityFeePerGas).toBe(20n);
  expect(replacementCaps({ maxFeePerGas: 15n, maxPriorityFeePerGas: 10n }).maxPriorityFeePerGas).toBe(15n);
});

test("fees are not known while the priority fee cannot be read", async () => {
  const failed = new RpcError("timeout", 42, "eth_maxPriorityFeePerGas", "no answer");
  const client = node({ eth_getBlockByNumber: BLOCK, eth_maxPriorityFeePerGas: failed });
  await expect(readMarket(client)).rejects.toBe(failed);
});

describe("a replacement", () => {
  test.each<[string, Fees, Fees | null, Fees | null]>([
    ["pays 12.5% more of both", dynamic(800n, 80n), dynamic(1n, 1n), dynamic(901n, 91n)],
    ["pays the current fees where these are higher", dynamic(800n, 80n), dynamic(5_000n, 7n), dynamic(5_000n, 91n)],
    ["pays the cap where 12.5% more exceeds it, but 10% does not", dynamic(9_000n, 8n), null, dynamic(10_000n, 10n)],
    ["is impossible where 10% more exceeds the cap", dynamic(9_091n, 8n), null, null],
    ["raises a priority fee of 0 too", dynamic(800n, 0n), null, dynamic(901n, 1n)],
    ["never pays a priority fee above the maximum fee", dynamic(10n, 10n), dynamic(20n, 20n), dynamic(20n, 20n)],
    ["raises a gas price", legacy(80n), null, legacy(91n)],
    ["of a gas price ignores fees of another type", legacy(80n), dynamic(5_000n, 7n), legacy(91n)],
    ["is possible where 10% more is the cap", dynamic(9_090n, 8n), null, dynamic(10_000n, 10n)],
  ])("%s", (_, before, today, after) => {
    expect(bumpFees(before, today, capsOf(10_000n))).toEqual(after);
  });

  test("is impossible where 10% more priority fee exceeds twice its cap", () => {
    const caps = { maxFeePerGas: 10_000n, maxPriorityFeePerGas: 44n };
    expect(bumpFees(dynamic(800n, 80n), null, caps)).toBeNull();
    expect(bumpFees(dynamic(800n, 79n), null, caps)).toEqual(dynamic(901n, 88n));
    expect(bumpFees(legacy(800n), null, caps)).toEqual(legacy(901n));
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

describe("of a refusal,", () => {
  const ADDRESS = "0x71562b71999873DB5b286dF957af199Ec94617F7";

  // Bor's text is from its users' reports, like those of BSC, Ronin, Metis and Avalanche; the others from the sources.
  test.each([
    ["Bor", "transaction underpriced: gas tip cap 1000000000, minimum needed 25000000000", 0n, 25_000_000_000n],
    ["geth", "transaction gas price below minimum: gas tip cap 0, minimum needed 1", 0n, 1n],
    ["older geth", "transaction underpriced: tip needed 3000000000, tip permitted 1", 0n, 3_000_000_000n],
    ["BSC", "transaction underpriced: tip needed 5, or 3 for 48Club NFT holder, tip permitted 1", 0n, 5n],
    ["Reth", "transaction priority fee below minimum required priority fee 20000000000", 0n, 20_000_000_000n],
    ["Nethermind", "FeeTooLow, EffectivePriorityFeePerGas too low 0 < 1000000000, BaseFee: 7", 0n, 1_000_000_000n],
    ["Nethermind", "FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 50, BaseFee: 100, MaxPriorityFeePerGas:2", 100n, 0n],
    ["Nethermind", "FeeTooLow, FeePerGas needs to be higher than 100 to be added to the TxPool.", 100n, 0n],
    ["geth", `max fee per gas less than block base fee: address ${ADDRESS}, maxFeePerGas: 3, baseFee: 7`, 7n, 0n],
    ["Arbitrum", `max fee per gas less than block base fee: address ${ADDRESS}, maxFeePerGas: 3 baseFee: 7`, 7n, 0n],
    ["Evmos", "max fee per gas less than block base fee (1000000 < 1105735): insufficient fee", 1_105_735n, 0n],
    ["Ronin", "transaction underpriced: fee cap 1, minimum needed 20000000001", 20_000_000_001n, 0n],
    [
      "Avalanche",
      `transaction underpriced: address ${ADDRESS} have gas fee cap (15000000) < pool minimum fee cap (25000000000)`,
      25_000_000_000n,
      0n,
    ],
    ["Metis", "gas price too low: 1000 wei, use at least tx.gasPrice = 15000000 wei", 15_000_000n, 0n],
    ["Besu", "Gas price below configured minimum gas price", 0n, 0n],
    ["geth", "replacement transaction underpriced", 0n, 0n],
    ["geth", "intrinsic gas too low: gas 1000, minimum needed 21000", 0n, 0n],
    ["geth", "gas required exceeds allowance (30000000)", 0n, 0n],
  ])("the minimum that %s names is read: %s", (_, reason, maxFeePerGas, maxPriorityFeePerGas) => {
    expect(namedMinimum(`-32000: ${reason}`)).toEqual({ maxFeePerGas, maxPriorityFeePerGas });
    if (maxFeePerGas + maxPriorityFeePerGas > 0n) expect(classifyNodeError(reason)).toBe("underpriced");
  });

  const caps = { maxFeePerGas: 500n * 10n ** 9n, maxPriorityFeePerGas: 50n * 10n ** 9n };
  const tipOf = (gwei: number) => `transaction underpriced: gas tip cap 1, minimum needed ${gwei}000000000`;
  const baseOf = (gwei: number) =>
    `max fee per gas less than block base fee: maxFeePerGas: 3, baseFee: ${gwei}000000000`;
  const gwei = (amount: number) => BigInt(amount) * 10n ** 9n;

  const gweiOf = ({ type, maxFeePerGas, maxPriorityFeePerGas }: Fees) =>
    type === "legacy"
      ? legacy(gwei(Number(maxFeePerGas)))
      : dynamic(gwei(Number(maxFeePerGas)), gwei(Number(maxPriorityFeePerGas)));

  // In gwei.
  test.each<[string, Fees, string, Fees]>([
    ["the named priority fee", dynamic(61n, 1n), tipOf(25), dynamic(85n, 25n)],
    ["twice the named base fee", dynamic(3n, 1n), baseOf(7), dynamic(15n, 1n)],
    ["the named price of a legacy transaction", legacy(1n), tipOf(25), legacy(25n)],
    ["twice the fees where no minimum is named", dynamic(4n, 3n), "", dynamic(8n, 6n)],
    ["twice the fees where the minimum was offered", dynamic(60n, 30n), tipOf(25), dynamic(120n, 60n)],
    ["a priority fee at its cap", dynamic(61n, 1n), tipOf(50), dynamic(110n, 50n)],
    ["a base fee at the cap", dynamic(3n, 1n), baseOf(500), dynamic(1_001n, 1n)],
    ["twice the fees where exactly the minimum was offered", legacy(25n), tipOf(25), legacy(50n)],
    ["more where only one of the fees is at its cap", dynamic(500n, 49n), "", dynamic(1_000n, 98n)],
    ["more where only the other is", dynamic(499n, 50n), "", dynamic(998n, 100n)],
  ])("the next attempt offers %s", (_, refused, reason, asked) => {
    expect(feesAfterRefusal(gweiOf(refused), reason, caps)).toEqual({ asked: gweiOf(asked), excess: null });
  });

  test.each([
    ["fees", dynamic(0n, 0n), dynamic(10_000_000n, 10_000_000n)],
    ["a price", legacy(0n), legacy(10_000_000n)],
  ])("the next attempt offers something after %s of nothing", (_, refused, asked) => {
    expect(feesAfterRefusal(refused, "", caps)).toEqual({ asked, excess: null });
  });

  // In gwei, too.
  const [FEE, TIP] = ["maxFeePerGasGwei", "maxPriorityFeePerGasGwei"];
  test.each<[string, Fees, string, Fees, string, number | null, number]>([
    ["more than the cap of a price", legacy(500n), "", legacy(1_000n), FEE, null, 500],
    ["a base fee above the cap", dynamic(3n, 1n), baseOf(501), dynamic(1_003n, 1n), FEE, 501, 500],
    ["a priority fee above its cap", dynamic(61n, 1n), tipOf(51), dynamic(111n, 51n), TIP, 51, 50],
    ["a price above its cap", legacy(1n), tipOf(501), legacy(501n), FEE, 501, 500],
    ["more than both caps", dynamic(500n, 50n), "", dynamic(1_000n, 100n), TIP, null, 50],
  ])("the next attempt would in vain offer %s", (_, refused, reason, asked, setting, wanted, cap) => {
    const excess = { setting, wanted: wanted && gwei(wanted), cap: gwei(cap) };
    expect(feesAfterRefusal(gweiOf(refused), reason, caps)).toEqual({ asked: gweiOf(asked), excess });
  });

  test("the setting that is too low is the one for both, where both are the same", () => {
    const { excess } = feesAfterRefusal(dynamic(gwei(61), gwei(1)), tipOf(501), capsOf(gwei(500)));
    expect(excess).toEqual({ setting: "maxFeePerGasGwei", wanted: gwei(501), cap: gwei(500) });
  });

  test("fees are never raised above the caps, nor lowered", () => {
    expect(raiseToAsked(dynamic(5n, 1n), dynamic(gwei(900), gwei(90)), caps)).toEqual(dynamic(gwei(500), gwei(50)));
    expect(raiseToAsked(dynamic(gwei(7), gwei(3)), dynamic(1n, 1n), caps)).toEqual(dynamic(gwei(7), gwei(3)));
    expect(raiseToAsked(legacy(3n), dynamic(9n, 9n), caps)).toEqual(legacy(3n));
  });

  test("whatever a node wants within the caps is offered after a few refusals, whether it names it or not", () => {
    const amount = (cap: bigint) => fc.oneof(fc.bigInt(0n, 1000n), fc.bigInt(0n, cap));
    fc.assert(
      fc.property(
        fc.constantFrom("eip1559" as const, "legacy" as const),
        amount(caps.maxPriorityFeePerGas),
        amount(caps.maxPriorityFeePerGas),
        fc.boolean(),
        (type, suggested, wanted, isNamed) => {
          let fees: Fees = type === "legacy" ? legacy(suggested) : dynamic(suggested, suggested);
          for (let refusals = 0; ; refusals++) {
            const offered = type === "legacy" ? fees.maxFeePerGas : fees.maxPriorityFeePerGas;
            if (offered >= wanted) return;
            expect(refusals).toBeLessThan(isNamed ? 1 : 20);
            const reason = isNamed ? `gas tip cap ${offered}, minimum needed ${wanted}` : "underpriced";
            const { asked, excess } = feesAfterRefusal(fees, reason, caps);
            expect(excess).toBeNull();
            fees = raiseToAsked(fees, asked, caps);
          }
        },
      ),
      { seed: 1 },
    );
  });
});

test("where new transactions offer no priority fee, replacements and cancellations still offer more than before", () => {
  const caps = { maxFeePerGas: 10_000n * 10n ** 9n, maxPriorityFeePerGas: 0n };
  const first = feesFor({ type: "eip1559", baseFee: 1_000n, priorityFee: 5n }, caps);
  expect(first).toEqual(dynamic(2_000n, 0n));
  let fees = first as Fees;
  for (let replacements = 0; replacements < 50; replacements++) {
    const next = bumpFees(fees, first, caps);
    if (next === null) throw new Error("A replacement is possible.");
    expect(next.maxFeePerGas).toBeGreaterThan(fees.maxFeePerGas);
    expect(next.maxPriorityFeePerGas).toBeGreaterThan(fees.maxPriorityFeePerGas);
    fees = next;
  }
  // All of them together cost next to nothing.
  expect(fees.maxPriorityFeePerGas).toBeLessThanOrEqual(10_000_000n);
});
