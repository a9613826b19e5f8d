import { keccak } from "@dataset-oracle/service/crypto/keccak";
import { bytesToHex, type Hex, hexToBytes, type LocalAccount } from "viem";
import { estimateGas } from "viem/actions";
import type { Clock } from "../context.js";
import { feesTooHigh } from "../problems.js";
import type { ChainClient } from "../rpc/client.js";
import { classifyNodeError, type NodeErrorKind } from "../rpc/node-errors.js";
import { RpcError } from "../rpc/rpc-error.js";
import { readTransaction, submitRawTransaction } from "../rpc/transactions.js";
import { baseFeeOf, bumpAboveRefused, bumpFees, type FeeCaps, type Fees, feesFor, type NetworkFees } from "./fees.js";
import type { Call } from "./job.js";

/** The gas of a plain transfer. Some chains charge more, so it is estimated first. */
const TRANSFER_GAS = 21_000n;

/** A node that refused fees as too low can want less a minute later. */
const REMEMBER_REFUSED_MS = 60_000;

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

/** Gives a signed transaction to all RPC endpoints. One that is mined already counts as accepted. */
async function submitRaw(client: ChainClient, raw: Hex, hash: Hex): Promise<SubmissionResult> {
  try {
    await submitRawTransaction(client, raw);
    return { kind: "accepted" };
  } catch (error) {
    // Without an answer, the node may have the transaction.
    if (!(error instanceof RpcError) || error.kind !== "refused") {
      return (await isKnownTo(client, hash)) ? { kind: "accepted" } : { kind: "unknown", error };
    }
    const why = classifyNodeError(error.reason);
    // The nonce of a transaction is also too low when that transaction has used it.
    const isKnown = why === "already_known" || (why === "nonce_too_low" && (await isKnownTo(client, hash)));
    return isKnown ? { kind: "accepted" } : { kind: "rejected", why, error };
  }
}

async function isKnownTo(client: ChainClient, hash: Hex): Promise<boolean> {
  return (await readTransaction(client, hash).catch(() => null)) !== null;
}

/** Signs transactions with fees that are high enough and within the cap, and submits them. */
export class Submitter {
  /** Fees that were refused as too low, by nonce: another transaction has the nonce, or the node wants more. */
  readonly #refused = new Map<number, { readonly fees: Fees; readonly at: number }>();

  constructor(
    private readonly client: ChainClient,
    private readonly account: LocalAccount,
    private readonly caps: FeeCaps,
    private readonly clock: Clock,
  ) {}

  /** Forgets the fees that were refused a while ago, or for nonces that the chain has used. */
  forgetRefused(mined: number): void {
    for (const [nonce, { at }] of this.#refused) {
      if (nonce < mined || this.clock() - at >= REMEMBER_REFUSED_MS) this.#refused.delete(nonce);
    }
  }

  /**
   * Submits the first transaction of a nonce.
   *
   * @param onSigned Called before an RPC endpoint has the transaction.
   * @throws ProblemError when the chain asks for more than the cap.
   */
  async submit(
    nonce: number,
    call: Call,
    networkFees: NetworkFees,
    onSigned?: (hash: Hex) => void,
  ): Promise<Submission> {
    const fees = feesFor(networkFees, this.caps);
    if (fees === null) throw feesTooHigh(this.client.chain.id, baseFeeOf(networkFees), this.caps.maxFeePerGas);
    return this.#signAndSubmit(nonce, call, fees, onSigned);
  }

  /**
   * Submits another transaction for a nonce that is taken.
   *
   * @param call Null for a cancellation: a transfer of nothing to the sender itself.
   * @param before The fees of the present transaction; null when they are unknown.
   * @returns Null when the caps do not allow what a replacement costs.
   */
  async replace(
    nonce: number,
    call: Call | null,
    before: Fees | null,
    networkFees: NetworkFees,
  ): Promise<Submission | null> {
    const current = feesFor(networkFees, this.caps);
    const fees = before === null ? current : bumpFees(before, current, this.caps);
    if (fees === null) return null;
    return this.#signAndSubmit(nonce, call ?? (await this.#cancellation()), fees);
  }

  /** Submits the same signed transaction again. */
  rebroadcast(raw: Hex, hash: Hex): Promise<SubmissionResult> {
    return submitRaw(this.client, raw, hash);
  }

  /** @param least The fees to offer, unless as much was refused for this nonce. */
  async #signAndSubmit(
    nonce: number,
    { to, data, gas }: Call,
    least: Fees,
    onSigned?: (hash: Hex) => void,
  ): Promise<Submission> {
    const refused = this.#refused.get(nonce)?.fees;
    const fees = refused === undefined ? least : bumpAboveRefused(least, refused, this.caps);
    const chainId = this.client.chain.id;
    const raw = await this.account.signTransaction({ chainId, nonce, to, data, gas, value: 0n, ...fees });
    const hash = bytesToHex(keccak(hexToBytes(raw)));
    onSigned?.(hash);
    const result = await submitRaw(this.client, raw, hash);
    if (isFeeProblem(result)) this.#refused.set(nonce, { fees, at: this.clock() });
    return { raw, hash, fees, result };
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
