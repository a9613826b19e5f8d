import { keccak } from "@dataset-oracle/service/crypto/keccak";
import type { Context } from "@dataset-oracle/service/process/context";
import { LRUCache } from "lru-cache";
import { bytesToHex, type Hex, hexToBytes, type LocalAccount, type TransactionSerializable } from "viem";
import { estimateGas } from "viem/actions";
import type { ChainClient } from "../rpc/client.js";
import { MEANINGS, SUBMIT } from "../rpc/node-errors.js";
import { describeError, RpcError } from "../rpc/rpc-error.js";
import { readTransaction } from "../rpc/transactions.js";
import {
  bumpFees,
  type FeeCaps,
  type FeeMarket,
  type Fees,
  feesAfterRefusal,
  feesFor,
  raiseToAsked,
  replacementCaps,
} from "./fees.js";
import type { GasCharge } from "./gas-budget.js";
import { NotSent } from "./not-sent.js";
import type { QueueLimits, ReplacementContent } from "./plan.js";
import type {
  ContractCall,
  InFlightTransactions,
  RoundCall,
  Submission,
  SubmissionResult,
  Task,
  Transaction,
} from "./task.js";

/** A node that refused fees as too low can want less a minute later. */
const REMEMBER_ASKED_MS = 60_000;
/** Stands for all nonces. */
const ANY_NONCE = -1;
const HOUR_MS = 3_600_000;

/** Gives a signed transaction to all RPC endpoints. One that is mined already counts as accepted. */
export async function submitRaw(client: ChainClient, raw: Hex, hash: Hex): Promise<SubmissionResult> {
  try {
    await client.ask(SUBMIT, [raw]);
    return { kind: "accepted" };
  } catch (error) {
    const refusal = error instanceof RpcError ? error : null;
    const accepted = refusal === null ? "perhaps" : MEANINGS[refusal.meaning].accepted;
    const isKnown = async () => (await readTransaction(client, hash).catch(() => null)) !== null;
    if (accepted === "yes" || (accepted !== "no" && (await isKnown()))) return { kind: "accepted" };
    if (refusal === null || accepted === "perhaps") return { kind: "unknown", error };
    return { kind: "rejected", error: refusal };
  }
}

/**
 * Signs a sender's transactions with fees that are high enough and within the caps, and submits them. It gets nonces
 * moving that do not advance: it submits the same transaction again, replaces it, or fills a gap.
 */
export class Submitter {
  /** What nodes want that refused fees as too low: for a nonce that another transaction has, or for any. */
  readonly #asked: LRUCache<number, Fees>;
  #cancelledAt: number[] = [];
  #isSignerFailing = false;
  /** The calls whose gas limit nodes have refused: what replaces them must have another. */
  readonly #refused = new WeakSet<ContractCall>();
  readonly counts = { replaced: 0, cancelled: 0, rebroadcast: 0, unsigned: 0 };

  /**
   * @param inFlight Where accepted transactions are recorded, and those whose outcome is unknown.
   * @param onRenewed Called when a newer round that a replacement waits for has been built, or cannot be.
   * @param openCharge Begins to charge the operator itself for a transaction that no task needs.
   */
  constructor(
    private readonly client: ChainClient,
    private readonly account: LocalAccount,
    private readonly inFlight: InFlightTransactions,
    private readonly onRenewed: () => void,
    private readonly openCharge: () => GasCharge,
    private readonly context: Pick<Context, "clock" | "logger" | "closing">,
    private readonly caps: FeeCaps & Pick<QueueLimits, "maxPending">,
  ) {
    this.#asked = new LRUCache({
      max: caps.maxPending + 1,
      ttl: REMEMBER_ASKED_MS,
      ttlResolution: 0,
      perf: { now: () => context.clock.monotonic() },
    });
  }

  /**
   * Submits the first transaction of a nonce.
   *
   * @throws NotSent when the chain asks for more than the cap, or the account cannot sign. RpcError when no block has
   * room for the gas that a node has estimated.
   */
  async submit(nonce: number, task: Task, market: FeeMarket): Promise<Submission> {
    const fees = feesFor(market, this.caps);
    if (fees === null) {
      const excess = { wanted: market.baseFee, cap: this.caps.maxFeePerGas, setting: "maxFeePerGasGwei" } as const;
      throw new NotSent(this.client.chain.id, { kind: "fees_too_high", excess });
    }
    const { call, work } = task;
    if (call.gas > market.blockGas) {
      const reason = `the estimated gas limit ${call.gas} is more than a block's, ${market.blockGas}`;
      throw new RpcError("failed", this.client.chain.id, "eth_estimateGas", reason);
    }
    const submission = await this.#signAndSubmit(nonce, call, fees, false, work.onSigned);
    if (submission.result.kind !== "rejected")
      this.inFlight.add(nonce, task, call, submission, work.charge, this.context.clock.monotonic());
    return submission;
  }

  /** Submits a transaction again that the node does not show. */
  async rebroadcast(transaction: Transaction): Promise<void> {
    const version = transaction.versions.at(-1);
    if (version === undefined) return;
    const { raw, hash, call } = version;
    const result = await this.#submitRaw(raw, hash, call);
    this.counts.rebroadcast++;
    this.context.logger.info({ nonce: transaction.nonce, transaction: hash, ...logFields(result) }, "rebroadcast");
    transaction.isAccepted = result.kind === "accepted";
    if (transaction.isAccepted && call !== null) transaction.task?.given({ hash, call }, null);
    transaction.submittedAt = this.context.clock.monotonic();
    // No node takes it as it is, so it counts as stuck.
    if (call !== null && this.#refused.has(call)) transaction.sentAt = Number.NEGATIVE_INFINITY;
  }

  /** Replaces a transaction that is stuck or gone. Where that needs the newest round, it does so once that is built. */
  async replace(transaction: Transaction, content: ReplacementContent, market: FeeMarket): Promise<void> {
    const { nonce, task, renewal } = transaction;
    if (content === "newest" && task !== null) {
      if (renewal === "running") return;
      // While the caps do not allow a replacement, what was built for it can get too old.
      const isUsable = renewal !== null && !this.#isExpired(renewal.call) && !isImpossible(renewal.call, market);
      if (!isUsable) void this.#renew(transaction, task);
      else await this.#takeNonce(nonce, transaction, this.#unlessRefused(renewal.call), market);
      return;
    }
    const call = content === "same" ? this.#sameCall(transaction) : null;
    await this.#takeNonce(nonce, transaction, isImpossible(call, market) ? null : call, market);
  }

  /**
   * Uses up a nonce that none of the queue's transactions has, with an empty transfer. The number of these is limited,
   * because an RPC node's false transaction counts can look like gaps.
   */
  async cancel(nonce: number, market: FeeMarket): Promise<void> {
    const maxCancelsPerHour = 2 * this.caps.maxPending;
    this.#cancelledAt = this.#cancelledAt.filter((at) => at > this.context.clock.monotonic() - HOUR_MS);
    if (this.#cancelledAt.length >= maxCancelsPerHour) {
      this.context.logger.warn(
        { nonce, maxCancelsPerHour },
        "a nonce gap stays open: the limit of cancellations per hour is reached",
      );
      return;
    }
    if (await this.#takeNonce(nonce, null, null, market)) this.#cancelledAt.push(this.context.clock.monotonic());
  }

  /** Builds the newest round for a nonce; if it cannot be built, the same call takes its place. It never throws. */
  async #renew(transaction: Transaction, task: Task): Promise<void> {
    transaction.renewal = "running";
    // What is stored already needs no newer round, only its nonce.
    const build = async () => ((await task.work.isStored(task.round)) ? null : task.buildNewest());
    const call = await build().catch((error: unknown) => {
      const reason = describeError(error);
      this.context.logger.warn({ reason }, "the newest round could not be built; the same call is submitted again");
      return this.#sameCall(transaction);
    });
    transaction.renewal = { call };
    this.onRenewed();
  }

  /** Returns the last version's call; null for a cancellation, and when its round is too old or its gas was refused. */
  #sameCall({ versions }: Transaction): RoundCall | null {
    const call = versions.at(-1)?.call ?? null;
    return this.#isExpired(call) ? null : this.#unlessRefused(call);
  }

  #unlessRefused(call: RoundCall | null): RoundCall | null {
    return call !== null && this.#refused.has(call) ? null : call;
  }

  /** @param call Null for a cancellation. */
  async #submitRaw(raw: Hex, hash: Hex, call: ContractCall | null): Promise<SubmissionResult> {
    const result = await submitRaw(this.client, raw, hash);
    if (call !== null && result.kind === "rejected" && result.error.meaning === "gas_refused") this.#refused.add(call);
    return result;
  }

  #isExpired(call: RoundCall | null): boolean {
    return call !== null && this.context.clock.now() >= call.expiresAt;
  }

  /**
   * Submits another transaction for a nonce that is taken, or left out.
   *
   * @param before The transaction that has the nonce; null where it is a gap, or a foreign transaction has it.
   * @param newer Null for a cancellation: a transfer of nothing to the sender itself.
   * @returns False when nothing was submitted.
   */
  async #takeNonce(
    nonce: number,
    before: Transaction | null,
    newer: RoundCall | null,
    market: FeeMarket,
  ): Promise<boolean> {
    const current = feesFor(market, this.caps);
    const fees = before === null ? current : bumpFees(before.fees, current, this.caps);
    if (fees === null) {
      const fact = "stuck: a replacement would cost more than maxFeePerGasGwei or maxPriorityFeePerGasGwei";
      this.context.logger.warn({ nonce }, fact);
      return false;
    }
    const content = newer ?? (await this.#cancellation());
    if (content === null || content.gas > market.blockGas) {
      this.context.logger.warn(
        { nonce, gas: content?.gas.toString() },
        "stuck: no endpoint estimates gas that a block has",
      );
      return false;
    }
    const submission = await this.#signAndSubmit(nonce, content, fees, before !== null);
    const { hash, result, excess } = submission;
    const done = newer === null ? "cancelled" : "replaced";
    this.context.logger.info({ nonce, transaction: hash, round: newer?.round.toString(), ...logFields(result) }, done);
    if (excess !== null)
      this.context.logger.warn({ nonce, setting: excess.setting }, "stuck: nodes ask for more than a fee cap");
    if (result.kind === "rejected") return false;
    const charge = before?.charge ?? this.openCharge();
    charge.hold(content.gas);
    this.counts[done]++;
    this.inFlight.add(nonce, before?.task ?? null, newer, submission, charge, this.context.clock.monotonic());
    return true;
  }

  /**
   * @param least The fees to offer, unless nodes have asked for more.
   * @param isReplacement True if the queue has a transaction with this nonce.
   * @param onSigned Called before an RPC endpoint has the transaction.
   */
  async #signAndSubmit(
    nonce: number,
    call: ContractCall,
    least: Fees,
    isReplacement: boolean,
    onSigned?: (hash: Hex) => void,
  ): Promise<Submission> {
    const isTaken = this.#asked.has(nonce);
    const asked = this.#asked.get(isTaken ? nonce : ANY_NONCE);
    const caps = isReplacement || isTaken ? replacementCaps(this.caps) : this.caps;
    const fees = asked === undefined ? least : raiseToAsked(least, asked, caps);
    const chainId = this.client.chain.id;
    const { to, data, gas } = call;
    const content = { chainId, nonce, to, data, gas, value: 0n };
    const { type, ...prices } = fees;
    const raw = await this.#sign(
      type === "legacy" ? { ...content, type, gasPrice: fees.maxFeePerGas } : { ...content, type, ...prices },
    );
    const hash = bytesToHex(keccak(hexToBytes(raw)));
    onSigned?.(hash);
    const result = await this.#submitRaw(raw, hash, call);
    if (!isFeeProblem(result)) return { raw, hash, fees, result, excess: null };
    const next = feesAfterRefusal(fees, result.error.reason, caps);
    this.#asked.set(isTaken || result.error.meaning === "replacement_underpriced" ? nonce : ANY_NONCE, next.asked);
    return { raw, hash, fees, result, excess: next.excess };
  }

  /** @throws NotSent when the account cannot sign now, because its key is in a signer outside this process. */
  async #sign(transaction: TransactionSerializable): Promise<Hex> {
    try {
      const raw = await this.account.signTransaction(transaction);
      if (this.#isSignerFailing) this.context.logger.info("the signer signs again");
      this.#isSignerFailing = false;
      return raw;
    } catch (error) {
      if (this.context.closing.aborted) throw new NotSent(this.client.chain.id, { kind: "shutting_down" });
      const reason = describeError(error);
      if (!this.#isSignerFailing) this.context.logger.error({ reason }, "the signer did not sign a transaction");
      this.#isSignerFailing = true;
      this.counts.unsigned++;
      throw new NotSent(this.client.chain.id, { kind: "signer_failed", sender: this.account.address, reason });
    }
  }

  /** Returns null while no endpoint says what it costs. */
  async #cancellation(): Promise<ContractCall | null> {
    const { address } = this.account;
    const gas = await estimateGas(this.client, { account: address, to: address }).catch(() => null);
    return gas === null ? null : { to: address, data: "0x", gas };
  }
}

/** Reports whether no block has room for a call. */
function isImpossible(call: RoundCall | null, { blockGas }: FeeMarket): boolean {
  return call !== null && call.gas > blockGas;
}

/** Reports whether a transaction was refused for its fees: another attempt at its nonce offers more. */
export function isFeeProblem(
  result: SubmissionResult,
): result is Extract<SubmissionResult, { readonly kind: "rejected" }> {
  return (
    result.kind === "rejected" &&
    (result.error.meaning === "replacement_underpriced" || result.error.meaning === "underpriced")
  );
}

function logFields(result: SubmissionResult): { readonly outcome: string; readonly reason?: string } {
  if (result.kind === "accepted") return { outcome: "accepted" };
  return { outcome: result.kind, reason: describeError(result.error) };
}
