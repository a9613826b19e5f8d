import { problem } from "@dataset-oracle/service/http-server/problem-error";
import type { Clock } from "@dataset-oracle/service/process/context";
import { type Address, type Hex, keccak256 } from "viem";
import { GasBudgetSpent } from "../problems.js";
import { rankMembers } from "../schedule/rank.js";
import { FeedGasSpent, GasBudget } from "./gas-budget.js";
import { type Job, type RoundCall, SubmissionUnknown, type Submitted } from "./job.js";
import type { TransactionQueue } from "./queue.js";

export interface GasSettings {
  readonly gasPerHour: number;
  readonly gasPerHourForNewKeys: number;
  readonly gasPerHourForFeeds: number;
  readonly gasPercentPerCaller: number;
}

/** Which gas budget pays for a request: the one for stored keys, or the one for keys that are stored for the first time. */
export type RequestBudget = "stored" | "new";

/** The accounts from which the operator sends on one network, each with its queue, and the gas that they may use. */
export class Senders {
  readonly #budgets: Readonly<Record<RequestBudget | "feeds", GasBudget>>;

  /** @param queues None where the operator has no key, and so sends nothing. */
  constructor(
    private readonly chainId: number,
    readonly queues: readonly TransactionQueue[],
    settings: GasSettings,
    private readonly clock: Clock,
  ) {
    this.#budgets = {
      stored: new GasBudget(BigInt(settings.gasPerHour), settings.gasPercentPerCaller),
      new: new GasBudget(BigInt(settings.gasPerHourForNewKeys), settings.gasPercentPerCaller),
      feeds: new GasBudget(BigInt(settings.gasPerHourForFeeds)),
    };
  }

  get canSend(): boolean {
    return this.queues.length > 0;
  }

  /** The part of each gas budget that the last hour has used, from 0 to 1. */
  get gasUsed(): readonly (readonly [budget: string, ratio: number])[] {
    return Object.entries(this.#budgets).map(([name, budget]) => [name, budget.usedRatio(this.clock.monotonic())]);
  }

  /** @throws ProblemError when the operator sends nothing on this network. */
  requireSender(): void {
    if (!this.canSend) throw problem("broadcast_unavailable", { network: this.chainId });
  }

  /**
   * Enqueues a job with one of the senders, within the gas budget that pays for it: the feeds' if it has no payer. It
   * returns once an RPC endpoint has accepted the transaction, and gives the gas back if nothing was submitted.
   *
   * @param dataset The job's dataset and, of a batch the first, key: the same ones always go through the same sender.
   * @throws ProblemError when the operator sends nothing on the network, or the budget or the payer's share of it is
   * spent. FeedGasSpent. The queue's error; a transaction whose outcome is unknown may still be mined, so its gas stays
   * reserved.
   */
  async enqueue<C extends RoundCall>(
    job: Job<C>,
    dataset: Address,
    key: Hex,
    budget: RequestBudget = "stored",
  ): Promise<Submitted<C>> {
    const queue = this.#queueOf(dataset, key);
    const release = this.#reserve(job, budget);
    try {
      return await queue.enqueue(job);
    } catch (error) {
      if (error instanceof SubmissionUnknown) throw error.reason;
      release();
      throw error;
    }
  }

  /** Returns the account that sends the updates of a key. @throws ProblemError when there is none. */
  addressFor(dataset: Address, key: Hex): Address {
    return this.#queueOf(dataset, key).address;
  }

  /**
   * Chooses the queue of a key by rendezvous hashing: each is chosen equally often, and when a sender is added or removed,
   * only the keys that it gains or loses move.
   */
  #queueOf(dataset: Address, key: Hex): TransactionQueue {
    const addresses = this.queues.map(({ address }) => address);
    const [chosen] = rankMembers(dataset, { keyHash: keccak256(key) }, addresses);
    const queue = this.queues.find(({ address }) => address === chosen);
    if (queue === undefined) throw problem("broadcast_unavailable", { network: this.chainId });
    return queue;
  }

  /** @returns A function that gives the gas back. */
  #reserve({ payer, call }: Pick<Job<RoundCall>, "payer" | "call">, budget: RequestBudget): () => void {
    const reservation = this.#budgets[payer === null ? "feeds" : budget].reserve(
      call.gas,
      this.clock.monotonic(),
      payer,
    );
    if (reservation.ok) return reservation.release;
    const { isShareSpent, retryAfterSeconds } = reservation;
    if (payer === null) throw new FeedGasSpent(retryAfterSeconds);
    throw new GasBudgetSpent(isShareSpent ? payer : null, budget === "new", retryAfterSeconds);
  }
}
