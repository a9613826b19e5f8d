import { type Hex, hexToBigInt } from "viem";
import { readHead } from "../rpc/blocks.js";
import type { ChainClient } from "../rpc/client.js";
import { RpcError } from "../rpc/rpc-error.js";

/** A legacy transaction has a gas price, which is its `maxFeePerGas` here, and a priority fee of 0. */
type FeeType = "eip1559" | "legacy";

/** The fees that a transaction offers, in wei per unit of gas. */
export interface Fees {
  readonly type: FeeType;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The fees that the chain asks for, in wei per unit of gas. One of the type `legacy` has no base fee but a gas price. */
export interface NetworkFees {
  readonly type: FeeType;
  readonly baseFee: bigint;
  readonly priorityFee: bigint;
}

/** The most that a transaction offers, in wei per unit of gas. */
export interface FeeCaps {
  /** Priority fee included. */
  readonly maxFeePerGas: bigint;
  /** Of a new transaction. A replacement may offer twice as much, because nodes ask for more than before. */
  readonly maxPriorityFeePerGas: bigint;
}

/** Returns the caps of a replacement. Nodes want more than before of both fees, even where new transactions offer no tip. */
export const replacementCaps = ({ maxFeePerGas, maxPriorityFeePerGas }: FeeCaps): FeeCaps => ({
  maxFeePerGas,
  maxPriorityFeePerGas: smaller(maxPriorityFeePerGas === 0n ? FLOOR : 2n * maxPriorityFeePerGas, maxFeePerGas),
});

/** What may always be offered after nothing was, because twice nothing is nothing. 0.01 gwei. */
const FLOOR = 10_000_000n;

/** Used where a node does not suggest a priority fee. */
const DEFAULT_PRIORITY_FEE = 1_000_000_000n;

/** What the chain asks of the next transaction. */
export interface FeeMarket extends NetworkFees {
  /** The gas of a whole block. A transaction with more is never mined. */
  readonly blockGas: bigint;
}

/** Reads what the chain asks of a transaction. A chain without a base fee has a gas price. */
export async function readMarket(client: ChainClient): Promise<FeeMarket> {
  const { baseFeePerGas, gasLimit: blockGas } = await readHead(client);
  if (baseFeePerGas === null) {
    const baseFee = hexToBigInt(await client.ask<Hex>("eth_gasPrice", []));
    return { type: "legacy", baseFee, priorityFee: 0n, blockGas };
  }
  return { type: "eip1559", baseFee: baseFeePerGas, priorityFee: await readPriorityFee(client), blockGas };
}

async function readPriorityFee(client: ChainClient): Promise<bigint> {
  try {
    return hexToBigInt(await client.ask<Hex>("eth_maxPriorityFeePerGas", []));
  } catch (error) {
    if (error instanceof RpcError && error.kind === "refused") return DEFAULT_PRIORITY_FEE;
    throw error;
  }
}

/**
 * Chooses the fees of a new transaction. Twice the base fee is still enough after five full blocks.
 *
 * @returns Null when the chain asks for more than the cap.
 */
export function feesFor({ type, baseFee, priorityFee }: NetworkFees, caps: FeeCaps): Fees | null {
  const cap = caps.maxFeePerGas;
  if (baseFee > cap) return null;
  if (type === "legacy") return { type, maxFeePerGas: baseFee, maxPriorityFeePerGas: 0n };
  const tip = smaller(priorityFee, caps.maxPriorityFeePerGas);
  return { type, maxFeePerGas: smaller(2n * baseFee + tip, cap), maxPriorityFeePerGas: smaller(tip, cap) };
}

/** Reports whether the next block could include a transaction with these fees. */
export function covers(fees: Fees, { type, baseFee }: NetworkFees): boolean {
  return type === "legacy" || fees.maxFeePerGas >= baseFee;
}

/**
 * Raises fees to replace a transaction. Nodes ask for a tenth more in each field; this adds an eighth, and never offers
 * less than the current fees.
 *
 * @param current The fees that a new transaction would offer; null when the chain asks for more than the cap.
 * @returns Null when the caps do not allow a tenth more.
 */
export function bumpFees(before: Fees, current: Fees | null, caps: FeeCaps): Fees | null {
  const { type } = before;
  const { maxPriorityFeePerGas: tipCap } = replacementCaps(caps);
  const now = current?.type === type ? current : { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  const maxFeePerGas = raised(before.maxFeePerGas, now.maxFeePerGas, caps.maxFeePerGas);
  const tip = raised(before.maxPriorityFeePerGas, now.maxPriorityFeePerGas, tipCap);
  if (maxFeePerGas === null) return null;
  if (type === "legacy") return { type, maxFeePerGas, maxPriorityFeePerGas: 0n };
  return tip === null ? null : { type, maxFeePerGas: larger(maxFeePerGas, tip), maxPriorityFeePerGas: tip };
}

/** A setting that is lower than the fees that are asked for. */
export interface FeeExcess {
  readonly setting: "maxFeePerGasGwei" | "maxPriorityFeePerGasGwei";
  /** In wei per unit of gas, like `cap`; null where the nodes say only that the cap is too low. */
  readonly wanted: bigint | null;
  readonly cap: bigint;
}

/**
 * How nodes that refuse a transaction name the least that they take, and of which of the two fees. Beside each stands
 * whose source or users have it.
 */
const NAMED_MINIMA: readonly (readonly [pattern: RegExp, field: keyof FeeCaps])[] = [
  [/gas tip cap \d+, minimum needed (\d+)/i, "maxPriorityFeePerGas"], // geth, Bor
  [/tip needed (\d+)/i, "maxPriorityFeePerGas"], // older geth, BSC
  [/minimum required priority fee (\d+)/i, "maxPriorityFeePerGas"], // Reth
  [/PriorityFeePerGas too low \d+ < (\d+)/i, "maxPriorityFeePerGas"], // Nethermind
  [/maxFeePerGas: \d+,? baseFee: (\d+)/i, "maxFeePerGas"], // geth, Arbitrum, Nethermind
  [/block base fee \(\d+ < (\d+)\)/i, "maxFeePerGas"], // Evmos
  [/FeePerGas needs to be higher than (\d+)/i, "maxFeePerGas"], // Nethermind
  [/fee cap \d+, minimum needed (\d+)/i, "maxFeePerGas"], // Ronin
  [/pool minimum fee cap \((\d+)\)/i, "maxFeePerGas"], // Avalanche
  [/use at least tx\.gasPrice = (\d+)/i, "maxFeePerGas"], // Metis
];

/** Reads the least that a node takes from its refusal, in wei per unit of gas: 0 for a fee that it does not name. */
export function namedMinimum(reason: string): FeeCaps {
  const minimum = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  for (const [pattern, field] of NAMED_MINIMA) minimum[field] ||= BigInt(pattern.exec(reason)?.[1] ?? 0);
  return minimum;
}

/**
 * Decides what to offer after nodes refused fees as too low: the minimum that they name, or else twice as much.
 *
 * @returns The fees, which can exceed the caps, and the setting that keeps the next attempt from succeeding; null if
 * none does.
 */
export function feesAfterRefusal(
  refused: Fees,
  reason: string,
  caps: FeeCaps,
): { readonly asked: Fees; readonly excess: FeeExcess | null } {
  const { type, maxFeePerGas, maxPriorityFeePerGas } = refused;
  const isLegacy = type === "legacy";
  const named = namedMinimum(reason);
  // The price of a legacy transaction is both of its fees.
  const least = isLegacy ? larger(named.maxFeePerGas, named.maxPriorityFeePerGas) : named.maxFeePerGas;
  const leastTip = isLegacy ? 0n : named.maxPriorityFeePerGas;
  const excessOf = (field: keyof FeeCaps, wanted: bigint | null): FeeExcess => ({
    setting: caps[field] === caps.maxFeePerGas ? "maxFeePerGasGwei" : `${field}Gwei`,
    wanted,
    cap: caps[field],
  });
  if (least > maxFeePerGas || leastTip > maxPriorityFeePerGas) {
    const tip = larger(maxPriorityFeePerGas, leastTip);
    // A base fee can double within six blocks, as for a new transaction.
    const fee = larger(maxFeePerGas + tip - maxPriorityFeePerGas, isLegacy ? least : 2n * least + tip);
    const asked = { type, maxFeePerGas: fee, maxPriorityFeePerGas: tip };
    if (least > caps.maxFeePerGas) return { asked, excess: excessOf("maxFeePerGas", least) };
    const isTooLow = leastTip > caps.maxPriorityFeePerGas;
    return { asked, excess: isTooLow ? excessOf("maxPriorityFeePerGas", leastTip) : null };
  }
  const twice = (fee: bigint) => larger(2n * fee, FLOOR);
  const asked = {
    type,
    maxFeePerGas: twice(maxFeePerGas),
    maxPriorityFeePerGas: isLegacy ? 0n : twice(maxPriorityFeePerGas),
  };
  const isAtCaps = maxFeePerGas >= caps.maxFeePerGas && (isLegacy || maxPriorityFeePerGas >= caps.maxPriorityFeePerGas);
  return { asked, excess: isAtCaps ? excessOf(isLegacy ? "maxFeePerGas" : "maxPriorityFeePerGas", null) : null };
}

/** Raises fees to those that nodes asked for when they refused others, but not above the caps. */
export function raiseToAsked(fees: Fees, asked: Fees, caps: FeeCaps): Fees {
  if (fees.type !== asked.type) return fees;
  const raise = (field: keyof FeeCaps) => larger(fees[field], smaller(asked[field], caps[field]));
  return { ...fees, maxFeePerGas: raise("maxFeePerGas"), maxPriorityFeePerGas: raise("maxPriorityFeePerGas") };
}

function raised(before: bigint, current: bigint, cap: bigint): bigint | null {
  const least = before + before / 10n + 1n;
  if (least > cap) return null;
  return smaller(larger(before + before / 8n + 1n, current), cap);
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
