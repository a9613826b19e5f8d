import type { Hex, LocalAccount } from "viem";
import { type Rpc, requestQuantity } from "../chain/rpc.js";
import { feesTooHigh } from "../problems.js";
import { doubled, type Fees, feesFor, type Market, offerOf, raisedFees } from "./fees.js";
import { type Call, type Signed, type Submission, sign, submit } from "./submission.js";

const NOTHING_GAS = 21_000n;

/** A signed transaction that the RPC was given, and what became of it. */
export interface Submitted {
  readonly signed: Signed;
  readonly fees: Fees;
  readonly submission: Submission;
}

/** Signs transactions for nonces, with fees that are enough and within the cap, and gives them to the RPC. */
export class Submitter {
  /** By nonce, fees that were refused as too low for it: another transaction has it, or the node wants more. */
  readonly #tooLow = new Map<number, Fees>();

  /** @param cap The most that is submitted, tip included, in wei for each unit of gas. */
  constructor(
    private readonly rpc: Rpc,
    private readonly account: LocalAccount,
    private readonly cap: bigint,
  ) {}

  /** The chain has used the nonces below `mined`. */
  forgetBelow(mined: number): void {
    for (const nonce of this.#tooLow.keys()) if (nonce < mined) this.#tooLow.delete(nonce);
  }

  /**
   * Submitter the first transaction of a nonce.
   *
   * @param onSigned Is called before the RPC has it.
   * @throws ProblemError when the chain wants more than the cap.
   */
  async first(nonce: number, call: Call, market: Market, onSigned: (hash: Hex) => void): Promise<Submitted> {
    const today = feesFor(this.rpc.chainId, market, this.cap);
    const tooLow = this.#tooLow.get(nonce);
    const fees = tooLow === undefined ? today : raisedFees(tooLow, today, this.cap);
    if (fees === null) throw feesTooHigh(this.rpc.chainId, offerOf(today), this.cap);
    const signed = await sign(this.account, this.rpc.chainId, nonce, call, fees);
    onSigned(signed.hash);
    const submission = await submit(this.rpc, signed);
    // The node does not say how much it wants.
    if (isOfTheFees(submission)) this.#tooLow.set(nonce, doubled(fees, this.cap));
    return { signed, fees, submission };
  }

  /**
   * Submitter another transaction for a nonce.
   *
   * @param call Null for a transfer of nothing to itself.
   * @param before What the present one offers; null when it is not known.
   * @returns Null when the cap does not allow what a replacement costs.
   */
  async replacement(nonce: number, call: Call | null, before: Fees | null, market: Market): Promise<Submitted | null> {
    const today = this.#today(market);
    const refused = this.#tooLow.get(nonce) ?? null;
    const least = refused !== null && (before === null || offerOf(refused) > offerOf(before)) ? refused : before;
    const fees = least === null ? today : raisedFees(least, today, this.cap);
    if (fees === null) return null;
    const signed = await sign(this.account, this.rpc.chainId, nonce, call ?? (await this.#nothing()), fees);
    const submission = await submit(this.rpc, signed);
    if (isOfTheFees(submission)) this.#tooLow.set(nonce, fees);
    return { signed, fees, submission };
  }

  #today(market: Market): Fees | null {
    try {
      return feesFor(this.rpc.chainId, market, this.cap);
    } catch {
      return null;
    }
  }

  /** Some chains charge more than 21,000 for a transfer of nothing. */
  async #nothing(): Promise<Call> {
    const { address } = this.account;
    const estimate = requestQuantity(this.rpc, "eth_estimateGas", [{ from: address, to: address }]);
    return { to: address, data: "0x", gas: await estimate.catch(() => NOTHING_GAS) };
  }
}

/** Whether a transaction was refused for what it offers: another attempt at its nonce offers more. */
export function isOfTheFees(submission: Submission): boolean {
  return (
    submission.kind === "rejected" && (submission.why === "replacement_underpriced" || submission.why === "underpriced")
  );
}
