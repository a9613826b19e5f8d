import { setTimeout as delay } from "node:timers/promises";
import { ProblemError } from "@dataset-oracle/service/problem";
import type { Logger } from "pino";
import type { Address, Hex, LocalAccount } from "viem";
import { type Rpc, requestQuantity } from "../chain/rpc.js";
import { describeError, RpcError } from "../chain/rpc-error.js";
import type { Clock } from "../clock.js";
import { outOfFunds, shuttingDown } from "../problems.js";
import { covers, type Market, readMarket } from "./fees.js";
import { ForeignTransactions } from "./foreign-transactions.js";
import { InFlightTransactions } from "./in-flight.js";
import { type Confirmed, type Job, OutcomeUnknown, type RoundCall, type Sent } from "./job.js";
import { type Action, type Counts, planActions, type QueueLimits } from "./plan.js";
import { type Mined, readMined } from "./receipt.js";
import { ReorgWatch } from "./reorg-watch.js";
import { Replacements } from "./replacements.js";
import { RetryQueue } from "./retry-queue.js";
import { deferred, type Task, type Transaction } from "./state.js";
import type { Call, Submission } from "./submission.js";
import { isOfTheFees, type Submitted, Submitter } from "./submitter.js";

export interface QueueSettings extends QueueLimits {
  /** In wei for each unit of gas. */
  readonly maxFeePerGas: bigint;
  /** How often the queue looks at the chain while something is on its way. */
  readonly pollMs: number;
  /** For how many blocks a mined update is watched. */
  readonly reorgDepth: number;
}

export interface QueueContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly closing: AbortSignal;
}

const IDLE_POLLS = 10;
const ATTEMPTS = 3;
const RETRY_MS = 200;
/** A call that has waited longer for its turn is given up: its round is getting old. */
const MAX_QUEUE_MS = 30_000;
/** A node can count a transaction before it has the receipt. */
const MAX_MISSED = 5;

/**
 * One sender on one network. Its state is what it has sent; the nonce comes from the chain in every turn. A turn looks at
 * the chain, plans (queue-plan.ts), and acts; failover follow each other and never overlap.
 */
export class TransactionQueue {
  readonly #waiting: Task[] = [];
  readonly #sent = new InFlightTransactions();
  readonly #submitter: Submitter;
  readonly #replacements: Replacements;
  readonly #foreign: ForeignTransactions;
  readonly #watch: ReorgWatch;
  readonly #retryQueue: RetryQueue;
  readonly #log: Logger;
  #lookedAt = 0;
  #isRunning = false;
  #isCalled = false;
  #timer: NodeJS.Timeout | null = null;
  #recover: (call: Call) => Job<RoundCall> | null = () => null;
  readonly #counts = { reorged: 0, lost: 0 };

  constructor(
    private readonly rpc: Rpc,
    private readonly account: LocalAccount,
    private readonly settings: QueueSettings,
    private readonly context: QueueContext,
  ) {
    const { clock, logger, closing } = context;
    const { pollMs, maxPending, maxFeePerGas, reorgDepth } = settings;
    this.#log = logger;
    this.#submitter = new Submitter(rpc, account, maxFeePerGas);
    this.#replacements = new Replacements({
      rpc,
      submitter: this.#submitter,
      sent: this.#sent,
      clock,
      logger,
      onRenewed: () => this.#call(),
    });
    this.#foreign = new ForeignTransactions(rpc, account.address, logger, pollMs, maxPending);
    this.#watch = new ReorgWatch(rpc, reorgDepth);
    this.#retryQueue = new RetryQueue(clock, logger, (ready) => {
      if (ready !== null) this.#waiting.push(ready);
      this.#call();
    });
    closing.addEventListener("abort", () => this.#close(), { once: true });
  }

  get address(): Address {
    return this.account.address;
  }

  /** The updates that wait for a nonce, and the transactions on their way. */
  get depth(): { readonly waiting: number; readonly sent: number } {
    return { waiting: this.#waiting.length, sent: this.#sent.size };
  }

  /** What the queue had to do beyond sending, since the start. */
  get counts() {
    return { ...this.#replacements.counts, ...this.#counts };
  }

  /**
   * Takes over what the chain shows as pending.
   *
   * @param recover The job of a transaction that an earlier process has sent; null for one that is no update.
   */
  start(recover: (call: Call) => Job<RoundCall> | null = () => null): void {
    this.#recover = recover;
    this.#call();
  }

  /**
   * @returns Once the RPC has accepted the transaction. From then on the queue sees to it that the chain gets this round of
   * the data point, or a newer one.
   * @throws OutcomeUnknown when it may be mined all the same. Any other error says that nothing is on its way: RpcError,
   * or a problem when the account cannot pay, the fees are too high, or the operator shuts down.
   */
  send<C extends RoundCall>(job: Job<C>): Promise<Sent<C>> {
    return new Promise((resolve, reject) => {
      if (this.context.closing.aborted) return reject(shuttingDown());
      const caller = {
        resolve: resolve as (sent: Sent<RoundCall>) => void,
        reject,
        giveUpAt: this.context.clock() + MAX_QUEUE_MS,
      };
      const { call } = job;
      const confirmed = deferred<Confirmed<RoundCall> | null>();
      this.#waiting.push({ job: job as Job<RoundCall>, call, caller, confirmed, isPromised: false, attempts: 0 });
      this.#call();
    });
  }

  #call(): void {
    this.#isCalled = true;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    clearTimeout(this.#timer ?? undefined);
    while (this.#isCalled && !this.context.closing.aborted) {
      this.#isCalled = false;
      await this.#turn().catch((error: unknown) => this.#failWaiting(error));
    }
    this.#isRunning = false;
    if (this.context.closing.aborted) return;
    this.#timer = setTimeout(() => this.#call(), this.settings.pollMs * this.#policy).unref();
  }

  /** How many polls to wait. Who waits for a nonce waits for a block; where nothing is on its way, others may meddle. */
  get #policy(): number {
    if (this.#waiting.length > 0) return 0.25;
    const isBusy = this.#sent.size + this.#foreign.size + this.#watch.size + this.#retryQueue.size > 0;
    return isBusy ? 1 : IDLE_POLLS;
  }

  async #turn(): Promise<void> {
    const [mined, pending, market] = await Promise.all([
      this.#count("latest"),
      this.#count("pending"),
      readMarket(this.rpc),
    ]);
    const counts = { mined, pending: Math.max(mined, pending) };
    const now = this.context.clock();
    this.#submitter.forgetBelow(mined);
    await this.#lookForReorgs(counts, now).catch((error: unknown) => this.#warn(error, "the mined were not looked at"));
    this.#retryQueue.run();
    this.#giveUpLate(now);
    await this.#meetForeign(counts, now);
    const inFlight = this.#sent.all.map((one) => ({ ...one, isPayable: covers(one.fees, market) }));
    const actions = planActions(counts, inFlight, this.#foreign.since, this.#waiting.length, now, this.settings);
    const [confirmations, others] = [actions.filter(isConfirm), actions.filter((action) => !isConfirm(action))];
    await Promise.all(confirmations.map(({ nonce }) => this.#confirm(nonce)));
    for (const action of others) {
      const goesOn = await this.#act(action, market);
      if (!goesOn) break;
    }
  }

  async #count(tag: "latest" | "pending"): Promise<number> {
    return Number(await requestQuantity(this.rpc, "eth_getTransactionCount", [this.account.address, tag]));
  }

  async #lookForReorgs(counts: Counts, now: number): Promise<void> {
    if (now - this.#lookedAt < this.settings.pollMs) return;
    this.#lookedAt = now;
    const dropped = await this.#watch.look();
    if (dropped.length === 0) return;
    this.#counts.reorged++;
    this.#log.warn({ dropped: dropped.length }, "the chain was reorganised");
    for (const transaction of dropped) {
      const { nonce } = transaction;
      // Where the nonce is free again it is replaced at once, by the newest round.
      if (nonce >= counts.mined && !this.#sent.has(nonce)) this.#sent.set({ ...transaction, sentAt: 0, missed: 0 });
      else this.#retry(transaction, "a reorganisation dropped it");
    }
  }

  async #meetForeign(counts: Counts, now: number): Promise<void> {
    for (const pooled of await this.#foreign.meet(counts, (nonce) => this.#sent.has(nonce), now)) {
      const job = this.#recover(pooled.call);
      if (job === null) continue;
      const { nonce, hash } = pooled;
      this.#foreign.forget(nonce);
      this.#sent.recover(pooled, job, now);
      this.#log.info({ nonce, transaction: hash, round: job.call.round.toString() }, "recovered");
    }
  }

  /** @returns Whether the turn goes on. */
  async #act(action: Action, market: Market): Promise<boolean> {
    const { nonce } = action;
    const transaction = this.#sent.get(nonce);
    if (action.kind === "send") return this.#sendNext(nonce, market);
    if (action.kind === "cancel") await this.#replacements.cancel(nonce, market);
    if (transaction === undefined) return true;
    if (action.kind === "rebroadcast") await this.#replacements.rebroadcast(transaction, market);
    if (action.kind === "replace") await this.#replacements.replace(transaction, action.content, market);
    if (action.kind === "forget") {
      this.#sent.delete(nonce);
      this.#retry(transaction, "its transaction is gone, and its round too old");
    }
    return true;
  }

  async #sendNext(nonce: number, market: Market): Promise<boolean> {
    const task = this.#waiting.shift();
    if (task === undefined) return true;
    try {
      const submitted = await this.#submitter.first(nonce, task.call, market, task.job.onSigned);
      const { submission } = submitted;
      if (submission.kind === "rejected") return await this.#refuse(task, submission);
      this.#begin(task, nonce, submitted);
    } catch (error) {
      this.#fail(task, error);
    }
    return true;
  }

  #begin(task: Task, nonce: number, submitted: Submitted): void {
    const { signed, submission } = submitted;
    this.#sent.begin(task, nonce, submitted, this.context.clock());
    const { caller } = task;
    const isAccepted = submission.kind === "accepted";
    task.caller = null;
    task.isPromised ||= isAccepted;
    if (isAccepted) caller?.resolve({ hash: signed.hash, confirmed: task.confirmed.promise });
    else if (submission.kind === "unknown") caller?.reject(new OutcomeUnknown(submission.error));
  }

  /** @returns Whether the turn goes on: after an error of the nonce's the chain is looked at again. */
  async #refuse(task: Task, rejected: Extract<Submission, { kind: "rejected" }>): Promise<boolean> {
    const { why, error } = rejected;
    if (why === "insufficient_funds") throw outOfFunds(this.rpc.chainId);
    const canBeMended = isOfTheFees(rejected) || why === "nonce_too_low" || why === "nonce_too_high";
    if (!canBeMended || ++task.attempts >= ATTEMPTS) throw error;
    // A node behind a load balancer can name a nonce that another has already seen used.
    this.#waiting.unshift(task);
    this.#isCalled = true;
    await delay(RETRY_MS);
    return false;
  }

  /** The chain has used its nonce: by one of its versions, or by a stranger's transaction. */
  async #confirm(nonce: number): Promise<void> {
    const transaction = this.#sent.get(nonce);
    if (transaction === undefined) return;
    await this.#findMined(transaction).catch((error: unknown) => this.#warn(error, "a receipt was not read"));
  }

  async #findMined(transaction: Transaction): Promise<void> {
    const { nonce, versions } = transaction;
    for (const { hash, call } of versions.toReversed()) {
      const mined = await readMined(this.rpc, hash);
      if (mined === null) continue;
      await this.#finish(transaction, call, hash, mined);
      this.#sent.delete(nonce);
      return;
    }
    if (transaction.missed + 1 < MAX_MISSED) {
      this.#sent.set({ ...transaction, missed: transaction.missed + 1 });
      return;
    }
    this.#sent.delete(nonce);
    this.#counts.lost++;
    this.#retry(transaction, "another transaction has used its nonce");
  }

  async #finish(transaction: Transaction, call: RoundCall | null, hash: Hex, mined: Mined): Promise<void> {
    const { task } = transaction;
    if (task === null) return;
    if (call === null) return this.#retry(transaction, "its nonce was used up");
    if (mined.isReverted && !(await task.job.isStored(call.round))) {
      return this.#retry(transaction, "its transaction reverted");
    }
    this.#watch.add(transaction, task, call, hash, mined);
    task.confirmed.resolve({ ...mined, hash, call });
  }

  /** A job without a transaction: its newest round is sent anew, unless a later one of the same key is on its way. */
  #retry(transaction: Transaction, reason: string): void {
    const { task, nonce } = transaction;
    if (task === null) return;
    const later = this.#sent.laterThan(transaction);
    this.#log.warn({ nonce, reason, isFollowed: later !== null }, "an update was not stored");
    if (task.isPromised && !later) {
      this.#retryQueue.add(task);
      this.#isCalled = true;
      return;
    }
    if (later) later.isPromised ||= task.isPromised;
    task.confirmed.resolve(null);
  }

  #giveUpLate(now: number): void {
    for (const task of [...this.#waiting]) {
      if (task.caller !== null && now > task.caller.giveUpAt) {
        this.#waiting.splice(this.#waiting.indexOf(task), 1);
        this.#fail(
          task,
          new RpcError("timeout", this.rpc.chainId, "eth_sendRawTransaction", "waited too long for its turn"),
        );
      }
    }
  }

  /** The chain could not be looked at: who waits is told; what the queue owes stays. */
  #failWaiting(error: unknown): void {
    const waiting = this.#waiting.splice(0);
    for (const task of waiting) this.#fail(task, error);
    if (!(error instanceof ProblemError)) this.#log.error({ err: error }, "a pass of the transaction queue failed");
  }

  #fail(task: Task, error: unknown): void {
    const { caller } = task;
    task.caller = null;
    if (caller === null) this.#retryQueue.add(task, true);
    else caller.reject(error);
  }

  #close(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#failWaiting(shuttingDown());
    this.#retryQueue.close();
    for (const { task } of this.#sent.all) task?.confirmed.resolve(null);
  }

  #warn(error: unknown, message: string): void {
    this.#log.warn({ reason: describeError(error) }, message);
  }
}

function isConfirm({ kind }: Action): boolean {
  return kind === "confirm";
}
