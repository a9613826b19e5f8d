import type { Clock } from "@dataset-oracle/service/process/context";
import { type Address, type Hex, keccak256 } from "viem";
import { rankMembers } from "../schedule/rank.js";
import { GasBudget, type GasCharge, type GasRefusal } from "./gas-budget.js";
import { type BudgetName, NotSent } from "./not-sent.js";
import type { TransactionQueue } from "./queue.js";
import type { Task, Version } from "./task.js";

export interface GasSettings {
  readonly gasPerHour: number;
  readonly gasPerHourForNewKeys: number;
  readonly gasPerHourForFeeds: number;
  readonly gasPercentPerCaller: number;
}

/** The gas budgets of one network. */
export type GasBudgets = Readonly<Record<BudgetName, GasBudget>>;

export function createGasBudgets(clock: Clock, settings: GasSettings): GasBudgets {
  const { gasPerHour, gasPerHourForNewKeys, gasPerHourForFeeds, gasPercentPerCaller: percentPerCaller } = settings;
  return {
    stored: new GasBudget(clock, { perHour: BigInt(gasPerHour), percentPerCaller }),
    new: new GasBudget(clock, { perHour: BigInt(gasPerHourForNewKeys), percentPerCaller }),
    feeds: new GasBudget(clock, { perHour: BigInt(gasPerHourForFeeds) }),
  };
}

/** For so long a kind's latest gas limit is expected again: a node that overstates gas can have estimated it. */
const EXPECTED_MS = 5_000;

/** A task that is paid for, before anything is built for it. */
export interface Admission {
  /** Null for a feed or an accusation. */
  readonly payer: string | null;
  readonly charge: GasCharge;
  /** Tasks of one kind use about the same gas. */
  readonly kind: string;
  readonly budget: BudgetName;
}

/** The accounts from which the operator sends on one network, each with its queue, and the gas that they may use. */
export class Senders {
  /** The gas limit of the latest task of each kind: the chain decides it, so the first of a kind is built to know it. */
  readonly #expected = new Map<string, { readonly gas: bigint; readonly until: number }>();

  /** @param queues None where the operator has no key, and so sends nothing. */
  constructor(
    private readonly chainId: number,
    readonly queues: readonly TransactionQueue[],
    private readonly budgets: GasBudgets,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {}

  get canSend(): boolean {
    return this.queues.length > 0;
  }

  /** The part of each gas budget that the last hour has used: above 1 in debt. */
  get gasUsed(): readonly (readonly [budget: string, ratio: number])[] {
    return Object.entries(this.budgets).map(([name, budget]) => [name, budget.usedRatio]);
  }

  /** Keeps a part of each account's places free of callers, so that the operator's own updates need not wait for a block. */
  reserveForOwn(): void {
    for (const queue of this.queues) queue.reserveForOwn();
  }

  /** The tasks that wait for a nonce or are pending, whichever sender's they are. */
  get tasks(): readonly Task[] {
    return this.queues.flatMap(({ tasks }) => tasks);
  }

  /** Those that have a nonce. */
  get underway(): readonly Task[] {
    return this.queues.flatMap(({ underway }) => underway);
  }

  /** @throws NotSent when the operator sends nothing on this network. */
  requireSender(): void {
    if (!this.canSend) throw new NotSent(this.chainId, { kind: "no_sender" });
  }

  /**
   * Admits a task to the gas budget that pays for it, before it costs anybody any work.
   *
   * @param payer The caller whose share it is; null for a feed or an accusation.
   * @param what Names tasks that use about the same gas, such as updates of a dataset with as many keys.
   * @throws NotSent when the operator sends nothing on the network, or the budget or the payer's share of it is spent.
   */
  admit(payer: string | null, what: string, isNewKey = false): Admission {
    this.requireSender();
    const budget = payer === null ? "feeds" : isNewKey ? "new" : "stored";
    const kind = `${budget} ${what}`;
    const known = this.#expected.get(kind);
    const expected = known !== undefined && this.clock.monotonic() < known.until ? known.gas : 1n;
    const admitted = this.budgets[budget].admit(expected, payer);
    if (!admitted.ok) throw this.#gasSpent(admitted, payer, budget);
    return { payer, charge: admitted.charge, kind, budget };
  }

  /** Pays for an update that an earlier process has promised. */
  openCharge(): GasCharge {
    return this.budgets.feeds.open();
  }

  /**
   * Enqueues a task with one of the senders. It returns once an RPC endpoint has accepted the transaction. Where nothing was
   * submitted, the gas is given back.
   *
   * @throws NotSent when the budget or the payer's share is too small for what was built, which is known only of a kind's
   * first task. The queue's error.
   */
  async enqueue(task: Task, { payer, charge, kind, budget }: Admission): Promise<Version> {
    const { gas } = task.call;
    this.#expected.set(kind, { gas, until: this.clock.monotonic() + EXPECTED_MS });
    const refusal = charge.confirm(gas);
    if (refusal !== null) throw this.#gasSpent(refusal, payer, budget);
    const { dataset, keys } = task.work.subject;
    return this.#queueOf(dataset, keys[0] ?? "0x").enqueue(task);
  }

  /** Returns the account that sends the updates of a key, always the same. @throws NotSent when there is none. */
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
    if (queue === undefined) throw new NotSent(this.chainId, { kind: "no_sender" });
    return queue;
  }

  #gasSpent({ isShareSpent, retryAfterSeconds }: GasRefusal, payer: string | null, budget: BudgetName): NotSent {
    return new NotSent(this.chainId, {
      kind: "gas_spent",
      budget,
      payer: isShareSpent ? payer : null,
      retryAfterSeconds,
    });
  }
}
