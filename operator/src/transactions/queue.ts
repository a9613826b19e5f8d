import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { type Context, wait } from "@dataset-oracle/service/process/context";
import { stackOf } from "@dataset-oracle/service/process/logger";
import type { Logger } from "pino";
import type { Address, Hex, LocalAccount } from "viem";
import { feesTooHigh, outOfFunds, queueFull, shuttingDown } from "../problems.js";
import type { ChainClient } from "../rpc/client.js";
import { describeError, RpcError } from "../rpc/rpc-error.js";
import { readMined } from "../rpc/transactions.js";
import { type FeeCaps, type Market, readMarket } from "./fees.js";
import type { GasCharge } from "./gas-budget.js";
import {
  AlreadyUnderway,
  type Call,
  type Job,
  type RoundCall,
  SubmissionUnknown,
  type Submitted,
  type Underway,
} from "./job.js";
import { isUrgent, planActions, type QueueAction, type QueueLimits, type TransactionCounts } from "./plan.js";
import { InFlightTransactions, newTask, type SubmissionResult, type Task, type Transaction } from "./queue-state.js";
import { ReorgWatch } from "./reorg-watch.js";
import { Retries } from "./retries.js";
import { SenderNonces } from "./sender-nonces.js";
import { isFeeProblem, Submitter } from "./submitter.js";

export interface QueueSettings extends QueueLimits, FeeCaps {
  /** How often the chain is read while a transaction is pending. */
  readonly pollMs: number;
  /** For how many blocks a mined update is watched. */
  readonly reorgDepth: number;
  /** How many of the `maxPending` places are kept free of requests, so that feeds need not wait for a block. */
  readonly reservedForFeeds: number;
}

const IDLE_POLLS = 10;
const MAX_ATTEMPTS = 3;
/** Fees are raised until they are accepted or reach a cap; doubling gets there in fewer attempts. */
const MAX_FEE_ATTEMPTS = 30;
const RETRY_MS = 200;
/** After this time in the queue an update is given up, because its round is getting old. */
export const MAX_QUEUE_MS = 30_000;

/**
 * Submits the updates of one sender on one network, and makes sure that every accepted one is stored: it bumps fees,
 * rebroadcasts, fills nonce gaps, and survives reorganizations. Its state is what it has submitted; the nonce is read
 * from the chain in every pass. A pass reads the chain, plans (plan.ts) and acts. Passes follow each other and never
 * overlap.
 */
export class TransactionQueue {
  /** The tasks that wait for a nonce, the oldest first. */
  #waiting: readonly Task[] = [];
  readonly #inFlight = new InFlightTransactions();
  readonly #nonces: SenderNonces;
  readonly #submitter: Submitter;
  readonly #reorgWatch: ReorgWatch;
  readonly #retries: Retries;
  readonly #log: Logger;
  readonly #counts = { mined: 0, reorged: 0, lost: 0 };
  #recover: (call: Call) => Job<RoundCall> | null = () => null;
  #reorgsCheckedAt = Number.NEGATIVE_INFINITY;
  #started: Promise<void> | null = null;
  readonly #startedAt: number;
  #isSharedKeyReported = false;
  #isRunning = false;
  #isPassDue = false;
  #hasFailed = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly client: ChainClient,
    private readonly account: LocalAccount,
    private readonly settings: QueueSettings,
    private readonly context: Pick<Context, "clock" | "random" | "logger" | "closing">,
    /** Begins to charge the operator itself for a transaction that no task needs. */
    openCharge: () => GasCharge,
  ) {
    const { clock, logger, closing } = context;
    const { pollMs, maxPending, reorgDepth } = settings;
    this.#log = logger;
    this.#startedAt = clock.monotonic();
    const onRenewed = () => this.#wake();
    this.#submitter = new Submitter(client, account, settings, this.#inFlight, context, onRenewed, openCharge);
    this.#nonces = new SenderNonces(client, account.address, maxPending, pollMs, clock, logger);
    this.#reorgWatch = new ReorgWatch(client, reorgDepth);
    this.#retries = new Retries(context, (task) => {
      this.#waiting = [...this.#waiting, task];
      this.#wake();
    });
    closing.addEventListener("abort", () => this.#close(), { once: true });
  }

  get address(): Address {
    return this.account.address;
  }

  /** The number of updates that wait for a nonce, and of pending transactions. */
  get depth(): { readonly waiting: number; readonly sent: number } {
    return { waiting: this.#waiting.length, sent: this.#inFlight.size };
  }

  /** The data points whose jobs wait for a nonce or are pending, by the ids of the jobs. */
  get dataPointIds(): readonly string[] {
    const pending = [...this.#inFlight.values()].flatMap(({ task }) => task?.dataPointId ?? []);
    return [...this.#waiting.map(({ dataPointId }) => dataPointId), ...pending];
  }

  /** The jobs that have a nonce. */
  get underway(): readonly Underway[] {
    return [...this.#inFlight.values()].flatMap(({ task }) => task?.underway ?? []);
  }

  /** What became of the transactions since the start, by event. */
  get counts() {
    return { ...this.#submitter.counts, ...this.#counts };
  }

  /**
   * Starts the queue, once. It returns after the first pass, which recovers the transactions that an earlier process
   * submitted.
   *
   * @param recover Finds the job of such a transaction; null for one that is no update.
   */
  start(recover: (call: Call) => Job<RoundCall> | null = () => null): Promise<void> {
    if (this.#started === null) {
      this.#recover = recover;
      this.#isPassDue = true;
      this.#started = this.#run();
    }
    return this.#started;
  }

  /**
   * Enqueues a job. It returns once an RPC endpoint has accepted the transaction: from then on the queue gets this round
   * of the data point, or a newer one, stored.
   *
   * @throws SubmissionUnknown when the transaction may still be mined. AlreadyUnderway when another one does its work. After
   * any other error nothing is pending: RpcError, or a ProblemError when the account cannot pay or sign, the fees are too
   * high, the queue is full, or the operator shuts down.
   */
  enqueue<C extends RoundCall>(job: Job<C>): Promise<Submitted<C>> {
    return new Promise((resolve, reject) => {
      const { closing, clock } = this.context;
      const { charge, giveUpAt = clock.monotonic() + MAX_QUEUE_MS } = job;
      if (closing.aborted) {
        charge.settle(0n);
        return reject(shuttingDown());
      }
      const waiter = { resolve: resolve as (submitted: Submitted<RoundCall>) => void, reject, giveUpAt };
      this.#waiting = [...this.#waiting, newTask(job as Job<RoundCall>, waiter)];
      this.#wake();
    });
  }

  #wake(): void {
    this.#isPassDue = true;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    clearTimeout(this.#timer ?? undefined);
    while (this.#isPassDue && !this.context.closing.aborted) {
      this.#isPassDue = false;
      this.#hasFailed = false;
      await this.#pass().catch((error: unknown) => {
        this.#hasFailed = true;
        this.#failWaiting(error);
      });
    }
    this.#isRunning = false;
    // A pass that ran meanwhile can have left something.
    if (this.context.closing.aborted) return this.#close();
    this.#timer = setTimeout(() => this.#wake(), this.settings.pollMs * this.#pollsUntilNextPass).unref();
  }

  /** An update can get its nonce as soon as a block is mined. Even an idle queue looks for foreign transactions. */
  get #pollsUntilNextPass(): number {
    if (this.#waiting.length > 0) return 0.25;
    const isBusy = this.#hasFailed || this.#inFlight.size + this.#nonces.foreignCount + this.#reorgWatch.size > 0;
    return isBusy ? 1 : IDLE_POLLS;
  }

  async #pass(): Promise<void> {
    const [shown, market] = await Promise.all([this.#nonces.readCounts(this.#inFlight.end), readMarket(this.client)]);
    const now = this.context.clock.monotonic();
    // A node that lags shows neither the nonce as used nor a receipt: the wait for one begins anew.
    for (const one of this.#inFlight.values()) if (one.nonce >= shown.mined) one.notFoundSince = null;
    await this.#checkReorgs(shown, now).catch((error: unknown) =>
      this.#warn(error, "could not check for reorganizations"),
    );
    // What is watched still is mined, although a node that lags shows it as pending.
    const mined = Math.max(shown.mined, this.#reorgWatch.end);
    const counts = { mined, pending: Math.max(mined, shown.pending) };
    this.#giveUpLate(now);
    await this.#recoverForeign(counts, now);
    const actions = planActions({
      counts,
      sent: [...this.#inFlight.values()],
      foreign: this.#nonces.stuckSince,
      waiting: this.#waiting,
      networkFees: market,
      now,
      timeOfDay: this.context.clock.now(),
      limits: { ...this.settings, maxPending: this.#maxPending(counts) },
    });
    const confirm = ({ nonce }: QueueAction) =>
      this.#confirm(nonce).catch((error: unknown) => this.#warn(error, "could not read a receipt"));
    await Promise.all(actions.filter(({ kind }) => kind === "confirm").map(confirm));
    for (const action of actions.filter((one) => one.kind !== "confirm")) {
      // Another process may have taken the sender over once this one shuts down.
      if (this.context.closing.aborted || !(await this.#act(action, market))) break;
    }
  }

  /**
   * Returns how many transactions may be pending after this pass. Only urgent updates may use the places kept for
   * feeds.
   */
  #maxPending({ mined }: TransactionCounts): number {
    const { maxPending, reservedForFeeds } = this.settings;
    const pending = [...this.#inFlight.keys()].filter((nonce) => nonce >= mined).length + this.#nonces.foreignCount;
    return Math.min(
      maxPending,
      Math.max(maxPending - reservedForFeeds, pending + this.#waiting.filter(isUrgent).length),
    );
  }

  async #checkReorgs(counts: TransactionCounts, now: number): Promise<void> {
    const isFreed = this.#reorgWatch.end > counts.mined;
    if (!isFreed && now - this.#reorgsCheckedAt < this.settings.pollMs) return;
    this.#reorgsCheckedAt = now;
    const dropped = await this.#reorgWatch.look(isFreed);
    if (dropped.length === 0) return;
    this.#counts.reorged++;
    this.#log.warn({ dropped: dropped.length }, "the chain was reorganized");
    for (const transaction of dropped) {
      const { nonce } = transaction;
      // If its nonce is free again, it counts as stuck, so that the newest round replaces it at once.
      const isFree = nonce >= counts.mined && !this.#inFlight.has(nonce);
      if (isFree) {
        transaction.charge.hold(transaction.versions.at(-1)?.call?.gas ?? 0n);
        this.#inFlight.set(nonce, { ...transaction, sentAt: Number.NEGATIVE_INFINITY, notFoundSince: null });
      } else this.#retry(transaction, "a reorganization dropped it");
    }
  }

  async #recoverForeign(counts: TransactionCounts, now: number): Promise<void> {
    // One with a nonce that was used before can be its own, and forgotten: it has reverted, or expired.
    const end = this.#inFlight.usedEnd;
    for (const pooled of await this.#nonces.findForeign(counts, (nonce) => this.#inFlight.has(nonce))) {
      const job = this.#recover(pooled.call);
      if (job === null) continue;
      const { nonce, hash } = pooled;
      this.#nonces.forget(nonce);
      const submission = { ...pooled, result: { kind: "accepted" }, excess: null } as const;
      job.charge.hold(job.call.gas);
      this.#inFlight.add(nonce, newTask(job, null), job.call, submission, job.charge, now);
      this.#log.info({ nonce, transaction: hash, round: job.call.round.toString() }, "recovered");
      if (nonce >= end) this.#reportSharedKey(job.call, hash);
    }
  }

  /** Names the cause when a transaction of this sender has a round that no process before this one can have sent. */
  #reportSharedKey({ round }: RoundCall, transaction: Hex): void {
    const { clock } = this.context;
    const ageMs = clock.now() - Number(round) * 1000;
    if (this.#isSharedKeyReported || ageMs > clock.monotonic() - this.#startedAt) return;
    this.#isSharedKeyReported = true;
    this.#log.error(
      { transaction },
      "another process sends with this sender's key: give each process a key of its own",
    );
  }

  /** @returns False when the rest of the plan is out of date. */
  async #act(action: Exclude<QueueAction, { kind: "confirm" }>, market: Market): Promise<boolean> {
    const { nonce } = action;
    if (action.kind === "submit") return this.#submit(action.task, nonce, market);
    const transaction = this.#inFlight.get(nonce);
    if (action.kind === "cancel") await this.#submitter.cancel(nonce, market);
    else if (transaction === undefined) return true;
    else if (action.kind === "rebroadcast") await this.#submitter.rebroadcast(transaction);
    else if (action.kind === "replace") await this.#submitter.replace(transaction, action.content, market);
    else {
      this.#inFlight.delete(nonce);
      transaction.charge.settle(0n);
      this.#retry(transaction, "its transaction was lost, and its round has expired");
    }
    return true;
  }

  async #submit(task: Task, nonce: number, market: Market): Promise<boolean> {
    // It can have been given up since the plan was made.
    if (this.#takeWaiting((one) => one === task).length === 0) return false;
    const other = task.waiter === null ? null : task.findUnderway?.();
    if (other) {
      this.#fail(task, new AlreadyUnderway(other));
      // The nonce is still free.
      this.#isPassDue = true;
      return false;
    }
    if (task.waiter === null && this.context.clock.now() >= task.call.expiresAt) {
      this.#fail(task, new Error("its round expired while it waited for a nonce"));
      this.#isPassDue = true;
      return false;
    }
    task.charge.hold(task.call.gas);
    try {
      const { hash, result, excess } = await this.#submitter.submit(nonce, task, market);
      if (excess !== null) throw feesTooHigh(this.client.chain.id, excess);
      if (result.kind === "rejected") return await this.#retryOrThrow(task, result);
      const { waiter, call, underway } = task;
      task.waiter = null;
      if (result.kind === "unknown") waiter?.reject(new SubmissionUnknown(result.error));
      else waiter?.resolve({ hash, call, underway, confirmed: underway.confirmed });
      return true;
    } catch (error) {
      this.#fail(task, error);
      // Then no transaction can be sent, and the nonce stays free.
      if (error instanceof ProblemError && error.code === "signer_failed") throw error;
      // The nonce is still free, and the plan has given the following ones away.
      this.#isPassDue = true;
      return false;
    }
  }

  /** Takes the waiting tasks that fulfil a condition. */
  #takeWaiting(fulfils: (task: Task) => boolean = () => true): readonly Task[] {
    const taken = this.#waiting.filter(fulfils);
    this.#waiting = this.#waiting.filter((task) => !taken.includes(task));
    return taken;
  }

  /** @returns False, so that the chain is read again after a fee or nonce problem. */
  async #retryOrThrow(task: Task, rejection: Extract<SubmissionResult, { kind: "rejected" }>): Promise<boolean> {
    const { why, error } = rejection;
    if (why === "insufficient_funds") throw outOfFunds(this.client.chain.id, this.address);
    const isAboutFees = isFeeProblem(rejection);
    const canSucceed = isAboutFees || why === "nonce_too_low" || why === "nonce_too_high";
    if (!canSucceed || ++task.attempts >= (isAboutFees ? MAX_FEE_ATTEMPTS : MAX_ATTEMPTS)) throw error;
    // A node behind a load balancer can name a nonce that another node has already seen used.
    this.#waiting = [task, ...this.#waiting];
    this.#isPassDue = true;
    await wait(RETRY_MS, this.context.closing);
    return false;
  }

  /** The chain has used the nonce, by one of the transaction's versions or by a foreign transaction. */
  async #confirm(nonce: number): Promise<void> {
    const transaction = this.#inFlight.get(nonce);
    if (transaction === undefined) return;
    const { task, versions, charge } = transaction;
    for (const { hash, call } of versions.toReversed()) {
      const mined = await readMined(this.client, hash);
      if (mined === null) continue;
      const isLost = call !== null && mined.isReverted && !(await task?.isStored(task.round));
      this.#inFlight.delete(nonce);
      charge.settle(mined.gasUsed);
      this.#counts.mined++;
      if (call === null) return this.#retry(transaction, "its nonce was cancelled");
      if (isLost) return this.#retry(transaction, "its transaction reverted", true);
      const confirmed = { ...mined, hash, call };
      this.#reorgWatch.add(transaction, confirmed);
      if (task !== null) Object.assign(task.retries, { since: null, count: 0, reverts: 0 });
      task?.end(confirmed);
      return;
    }
    const now = this.context.clock.monotonic();
    transaction.notFoundSince ??= now;
    if (now - transaction.notFoundSince < this.settings.lostMs) return;
    this.#inFlight.delete(nonce);
    charge.settle(0n);
    this.#counts.lost++;
    this.#retry(transaction, "another transaction has used its nonce");
  }

  /** Submits the newest round of an update that has no transaction, unless a later one of the same key is pending. */
  #retry(transaction: Transaction, reason: string, isReverted = false): void {
    const { task, nonce } = transaction;
    if (task === null) return;
    const later = this.#inFlight.laterTask(transaction);
    this.#log.warn({ nonce, reason, isFollowed: later !== null }, "an update was not stored");
    if (later !== null) {
      later.isPromised ||= task.isPromised;
      void later.underway.confirmed.then(task.end, task.fail);
    } else if (!task.isPromised) task.end(null);
    else if (isReverted) this.#retries.addReverted(task);
    else this.#retries.add(task);
  }

  #giveUpLate(now: number): void {
    for (const task of this.#takeWaiting(({ waiter }) => waiter !== null && now > waiter.giveUpAt)) {
      this.#fail(task, queueFull(this.client.chain.id));
    }
  }

  /** Fails the waiting updates, because the chain cannot be read or nothing signed. Promised ones are tried again. */
  #failWaiting(error: unknown): void {
    for (const task of this.#takeWaiting()) this.#fail(task, error);
    const isExpected = error instanceof ProblemError || error instanceof RpcError;
    if (!isExpected) this.#log.error({ reason: stackOf(error) }, "a pass of the transaction queue failed");
  }

  #fail(task: Task, error: unknown): void {
    const { waiter } = task;
    task.waiter = null;
    task.charge.settle(0n);
    if (waiter === null) this.#retries.add(task, error);
    else waiter.reject(error);
  }

  #close(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#failWaiting(shuttingDown());
    for (const { task } of this.#inFlight.values()) task?.end(null);
  }

  #warn(error: unknown, message: string): void {
    this.#log.warn({ reason: describeError(error) }, message);
  }
}
