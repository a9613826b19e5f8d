import { keccak } from "@dataset-oracle/service/keccak";
import { bytesToHex, type Hex, hexToBytes, type LocalAccount } from "viem";
import { estimateGas } from "viem/actions";
import type { ChainClient } from "../chain/client.js";
import { classifyNodeError, type NodeErrorKind } from "../chain/node-errors.js";
import { RpcError } from "../chain/rpc-error.js";
import { readTransaction, sendRawTransaction } from "../chain/transactions.js";
import { feesTooHigh } from "../problems.js";
import { doubled, type Fees, feesFor, type Market, maxFeeOf, raisedFees } from "./fees.js";
import type { Call } from "./job.js";

/** The gas of a plain transfer. Some chains charge more, so it is estimated first. */
const TRANSFER_GAS = 21_000n;

/** How RPC endpoints answered a transaction. Without a usable answer (`unknown`), it may be on its way. */
export type SubmissionResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "unknown"; readonly error: unknown }
  | { readonly kind: "rejected"; readonly why: NodeErrorKind; readonly error: RpcError };

/** A signed transaction that was given to the RPC endpoints. */
export interface Submission {
  readonly raw: Hex;
  readonly hash: Hex;
  readonly fees: Fees;
  readonly result: SubmissionResult;
}

/** Signs transactions with fees that are high enough and within the cap, and submits them. */
export class Submitter {
  /** Fees that were refused as too low, by nonce: another transaction has the nonce, or the node wants more. */
  readonly #tooLow = new Map<number, Fees>();

  /** @param cap The maximum fee per gas, priority fee included, in wei. */
  constructor(
    private readonly client: ChainClient,
    private readonly account: LocalAccount,
    private readonly cap: bigint,
  ) {}

  /** Forgets the nonces that the chain has used. */
  forgetBelow(nonce: number): void {
    for (const known of this.#tooLow.keys()) if (known < nonce) this.#tooLow.delete(known);
  }

  /**
   * Submits the first transaction of a nonce.
   *
   * @param onSigned Called before an RPC endpoint has the transaction.
   * @throws ProblemError when the chain asks for more than the cap.
   */
  async submit(nonce: number, call: Call, market: Market, onSigned: (hash: Hex) => void): Promise<Submission> {
    const { chain } = this.client;
    const current = feesFor(chain.id, market, this.cap);
    const tooLow = this.#tooLow.get(nonce);
    const fees = tooLow === undefined ? current : raisedFees(tooLow, current, this.cap);
    if (fees === null) throw feesTooHigh(chain.id, maxFeeOf(current), this.cap);
    const submission = await this.#signAndSend(nonce, call, fees, onSigned);
    // The node does not say how much it wants.
    if (isFeeProblem(submission.result)) this.#tooLow.set(nonce, doubled(fees, this.cap));
    return submission;
  }

  /**
   * Submits another transaction for a nonce that is taken.
   *
   * @param call Null for a cancellation: a transfer of nothing to the sender itself.
   * @param before The fees of the present transaction; null when they are unknown.
   * @returns Null when the cap does not allow what a replacement costs.
   */
  async replace(nonce: number, call: Call | null, before: Fees | null, market: Market): Promise<Submission | null> {
    const current = this.#currentFees(market);
    const refused = this.#tooLow.get(nonce) ?? null;
    const least = refused !== null && (before === null || maxFeeOf(refused) > maxFeeOf(before)) ? refused : before;
    const fees = least === null ? current : raisedFees(least, current, this.cap);
    if (fees === null) return null;
    const submission = await this.#signAndSend(nonce, call ?? (await this.#cancellation()), fees);
    if (isFeeProblem(submission.result)) this.#tooLow.set(nonce, fees);
    return submission;
  }

  /** Gives a signed transaction to all RPC endpoints. */
  async sendRaw(raw: Hex, hash: Hex): Promise<SubmissionResult> {
    try {
      await sendRawTransaction(this.client, raw);
      return { kind: "accepted" };
    } catch (error) {
      if (error instanceof RpcError && error.kind === "refused") {
        const why = classifyNodeError(error.reason);
        return why === "already_known" ? { kind: "accepted" } : { kind: "rejected", why, error };
      }
      // The node can still tell whether it has the transaction.
      const known = await readTransaction(this.client, hash).catch(() => null);
      return known !== null ? { kind: "accepted" } : { kind: "unknown", error };
    }
  }

  async #signAndSend(
    nonce: number,
    { to, data, gas }: Call,
    fees: Fees,
    onSigned: (hash: Hex) => void = () => {},
  ): Promise<Submission> {
    const chainId = this.client.chain.id;
    const raw = await this.account.signTransaction({ chainId, nonce, to, data, gas, value: 0n, ...fees });
    const hash = bytesToHex(keccak(hexToBytes(raw)));
    onSigned(hash);
    return { raw, hash, fees, result: await this.sendRaw(raw, hash) };
  }

  /** Returns null when the chain asks for more than the cap. */
  #currentFees(market: Market): Fees | null {
    try {
      return feesFor(this.client.chain.id, market, this.cap);
    } catch {
      return null;
    }
  }

  async #cancellation(): Promise<Call> {
    const { address } = this.account;
    const gas = await estimateGas(this.client, { account: address, to: address }).catch(() => TRANSFER_GAS);
    return { to: address, data: "0x", gas };
  }
}

/** Reports whether a transaction was refused for its fees: another attempt at its nonce offers more. */
export function isFeeProblem(result: SubmissionResult): boolean {
  return result.kind === "rejected" && (result.why === "replacement_underpriced" || result.why === "underpriced");
}
