import { type Context, wait } from "@dataset-oracle/service/process/context";
import { stackOf } from "@dataset-oracle/service/process/logger";
import type { Logger } from "pino";
import type { Address, Hex, LocalAccount } from "viem";
import type { ChainClient } from "../rpc/client.js";
import { describeError, RpcError } from "../rpc/rpc-error.js";
import { readMined } from "../rpc/transactions.js";
import { type FeeCaps, type FeeMarket, readMarket } from "./fees.js";
import type { GasCharge } from "./gas-budget.js";
import { isNotSent, NotSent, type SendingFault } from "./not-sent.js";
import { planActions, type QueueAction, type QueueLimits, type TransactionCounts } from "./plan.js";
import { ReorgWatch } from "./reorg-watch.js";
import { Retries } from "./retries.js";
import { SenderNonces } from "./sender-nonces.js";
import { isFeeProblem, Submitter } from "./submitter.js";
import {
  AlreadyUnderway,
  type ContractCall,
  InFlightTransactions,
  laterTask,
  type RoundCall,
  type Submission,
  type SubmissionResult,
  SubmissionUnknown,
  Task,
  type Transaction,
  type Version,
  type Work,
} from "./task.js";

export interface QueueSettings extends QueueLimits, FeeCaps {
  /** How often the chain is read while a transaction is pending. */
  readonly pollMs: number;
  /** For how many blocks a mined update is watched. */
  readonly reorgDepth: number;
}

const IDLE_POLLS = 10;
const MAX_ATTEMPTS = 3;
/** Fees are raised until they are accepted or reach a cap; doubling gets there in fewer attempts. */
const MAX_FEE_ATTEMPTS = 30;
const RETRY_MS = 200;
/** How long a node's word counts that it holds one transaction of the sender at a time: the sender's code can change. */
const ONE_AT_A_TIME_MS = 600_000;
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
  #recover: (call: ContractCall) => Work | null = () => null;
  #reorgsCheckedAt = Number.NEGATIVE_INFINITY;
  #started: Promise<void> | null = null;
  readonly #startedAt: number;
  /** How many of the `maxPending` places are free of requests. */
  #reserved = 0;
  #oneAtATimeUntil = Number.NEGATIVE_INFINITY;
  /** Since when nonces of watched updates are shown as free; null while none is. */
  #freedSince: number | null = null;
  #isSharedKeyReported = false;
  #isRunning = false;
  #isPassDue = false;
  #hasFailed = false;
  #timer: NodeJS.Timeout | null = null;

  /** @param openCharge Begins to charge the operator itself for a transaction that no task needs. */
  constructor(
    private readonly client: ChainClient,
    private readonly account: LocalAccount,
    openCharge: () => GasCharge,
    private readonly context: Pick<Context, "clock" | "random" | "logger" | "closing">,
    private readonly settings: QueueSettings,
  ) {
    const { clock, logger, closing } = context;
    this.#log = logger;
    this.#startedAt = clock.monotonic();
    const onRenewed = () => this.#wake();
    this.#submitter = new Submitter(client, account, this.#inFlight, onRenewed, openCharge, context, settings);
    this.#nonces = new SenderNonces(client, account.address, context, settings);
    this.#reorgWatch = new ReorgWatch(client, settings);
    this.#retries = new Retries(context, (task) => {
      this.#waiting = [...this.#waiting, task];
      this.#wake();
    });
    closing.addEventListener("abort", () => this.#close(), { once: true });
  }

  get address(): Address {
    return this.account.address;
  }

  /** Keeps a quarter of the places free of requests, so that what is urgent need not wait for a block. */
  reserveForOwn(): void {
    this.#reserved = Math.floor(this.settings.maxPending / 4);
  }

  /** The number of updates that wait for a nonce, and of pending transactions. */
  get depth(): { readonly waiting: number; readonly sent: number } {
    return { waiting: this.#waiting.length, sent: this.#inFlight.size };
  }

  /** The tasks that wait for a nonce or are pending. */
  get tasks(): readonly Task[] {
    return [...this.#waiting, ...this.#inFlight.tasks];
  }

  /** The tasks that have a nonce. */
  get underway(): readonly Task[] {
    return this.#inFlight.tasks;
  }

  /** What became of the transactions since the start, by event. */
  get counts() {
    return { ...this.#submitter.counts, ...this.#counts };
  }

  /**
   * Starts the queue, once. It returns after the first pass, which recovers the transactions that an earlier process
   * submitted.
   *
   * @param recover Finds the work of such a transaction; null for one that is no update.
   */
  start(recover: (call: ContractCall) => Work | null = () => null): Promise<void> {
    if (this.#started === null) {
      this.#recover = recover;
      this.#isPassDue = true;
      this.#started = this.#run();
    }
    return this.#started;
  }

  /**
   * Enqueues a task. It returns once an RPC endpoint has accepted the transaction: from then on the queue gets this round of
   * the data point, or a newer one, stored.
   *
   * @throws SubmissionUnknown when the transaction may still be mined. AlreadyUnderway when another one does its work. After
   * any other error nothing is pending: NotSent or RpcError.
   */
  enqueue(task: Task): Promise<Version> {
    if (this.context.closing.aborted) this.#fail(task, this.#notSent({ kind: "shutting_down" }));
    else {
      this.#waiting = [...this.#waiting, task];
      this.#wake();
    }
    return task.submitted;
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
    const hasWork = this.#hasFailed || this.#inFlight.size + this.#nonces.foreignCount + this.#reorgWatch.size > 0;
    return hasWork ? 1 : IDLE_POLLS;
  }

  async #pass(): Promise<void> {
    const readCounts = this.#nonces.readCounts(this.#inFlight.end, this.#reorgWatch.start);
    const [shown, market] = await Promise.all([readCounts, readMarket(this.client)]);
    const now = this.context.clock.monotonic();
    // A node that lags shows neither the nonce as used nor a receipt: the wait for one begins anew.
    for (const one of this.#inFlight.values()) if (one.nonce >= shown.mined) one.notFoundSince = null;
    await this.#checkReorgs(shown, now).catch((error: unknown) =>
      this.#warn(error, "could not check for reorganizations"),
    );
    const mined = this.#believedMined(shown, now);
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
   * Returns how many transactions count as mined. What is watched still is, although a node that lags shows it as pending;
   * but a chain that is shorter now shows nothing in the place of what it has dropped, so not for long.
   */
  #believedMined({ mined }: TransactionCounts, now: number): number {
    const { end } = this.#reorgWatch;
    this.#freedSince = end > mined ? (this.#freedSince ?? now) : null;
    if (this.#freedSince === null || now - this.#freedSince > this.settings.lostMs) return mined;
    return Math.max(mined, Math.min(end, ...this.#inFlight.unmined(mined)));
  }

  /**
   * Returns how many transactions may be pending after this pass. Only urgent updates may use the reserved places.
   */
  #maxPending({ mined }: TransactionCounts): number {
    if (this.context.clock.monotonic() < this.#oneAtATimeUntil) return 1;
    const { maxPending } = this.settings;
    const pending = this.#inFlight.unmined(mined).length + this.#nonces.foreignCount;
    return Math.min(
      maxPending,
      Math.max(maxPending - this.#reserved, pending + this.#waiting.filter((task) => task.isUrgent).length),
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
      // It counts as stuck, so that the newest round replaces it at once, unless the new chain has it.
      if (!this.#inFlight.has(nonce)) {
        transaction.charge.hold(transaction.versions.at(-1)?.call?.gas ?? 0n);
        const stuck = { ...transaction, sentAt: Number.NEGATIVE_INFINITY, notFoundSince: null, renewal: null };
        this.#inFlight.set(nonce, stuck);
      } else this.#retry(transaction, "a reorganization dropped it");
    }
  }

  async #recoverForeign(counts: TransactionCounts, now: number): Promise<void> {
    // One with a nonce that was used before can be its own, and forgotten: it has reverted, or expired.
    const end = this.#inFlight.usedEnd;
    for (const pooled of await this.#nonces.findForeign(counts, (nonce) => this.#inFlight.has(nonce))) {
      const work = this.#recover(pooled.call);
      if (work === null) continue;
      const { call, charge } = work;
      const { nonce, hash } = pooled;
      this.#nonces.forget(nonce);
      const submission = { ...pooled, result: { kind: "accepted" }, excess: null } as const;
      charge.hold(call.gas);
      this.#inFlight.add(nonce, new Task(work, null), call, submission, charge, now);
      this.#log.info({ nonce, transaction: hash, round: call.round.toString() }, "recovered");
      if (nonce >= end) this.#reportSharedKey(call, hash);
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
  async #act(action: Exclude<QueueAction, { kind: "confirm" }>, market: FeeMarket): Promise<boolean> {
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

  async #submit(task: Task, nonce: number, market: FeeMarket): Promise<boolean> {
    // It can have been given up since the plan was made.
    if (this.#takeWaiting((one) => one === task).length === 0) return false;
    const other = task.isAwaited ? task.work.findUnderway?.() : null;
    if (other) return this.#leaveNonce(task, new AlreadyUnderway(other));
    if (!task.isAwaited && this.context.clock.now() >= task.call.expiresAt) {
      return this.#leaveNonce(task, new Error("its round expired while it waited for a nonce"));
    }
    const { call } = task;
    task.work.charge.hold(call.gas);
    let submission: Submission;
    try {
      submission = await this.#submitter.submit(nonce, task, market);
    } catch (error) {
      if (!isNotSent(error, "signer_failed")) return this.#leaveNonce(task, error);
      // Then no transaction can be sent, and the nonce stays free.
      this.#fail(task, error);
      throw error;
    }
    const { hash, result, excess } = submission;
    if (excess !== null) return this.#leaveNonce(task, this.#notSent({ kind: "fees_too_high", excess }));
    if (result.kind === "rejected") return this.#submitAgain(task, result);
    if (result.kind === "unknown") task.refuse(new SubmissionUnknown(result.error));
    else task.answer({ hash, call });
    return true;
  }

  /** Fails a task that was to get a nonce. @returns False: the plan has given the following nonces away. */
  #leaveNonce(task: Task, error: unknown): false {
    this.#fail(task, error);
    this.#isPassDue = true;
    return false;
  }

  /** Takes the waiting tasks that fulfil a condition. */
  #takeWaiting(fulfils: (task: Task) => boolean = () => true): readonly Task[] {
    const taken = this.#waiting.filter(fulfils);
    this.#waiting = this.#waiting.filter((task) => !taken.includes(task));
    return taken;
  }

  /** @returns False, so that the chain is read again after a fee or nonce problem. */
  async #submitAgain(task: Task, rejection: Extract<SubmissionResult, { kind: "rejected" }>): Promise<false> {
    const { error } = rejection;
    const { meaning } = error;
    if (meaning === "insufficient_funds")
      return this.#leaveNonce(task, this.#notSent({ kind: "out_of_funds", sender: this.address }));
    const isOneAtATime = meaning === "one_at_a_time";
    if (isOneAtATime) this.#oneAtATimeUntil = this.context.clock.monotonic() + ONE_AT_A_TIME_MS;
    if (isOneAtATime && this.#inFlight.size + this.#nonces.foreignCount > 0) {
      this.#waiting = [task, ...this.#waiting];
      return false;
    }
    const isAboutFees = isFeeProblem(rejection);
    const canSucceed = isAboutFees || isOneAtATime || meaning === "nonce_too_low" || meaning === "nonce_too_high";
    if (!canSucceed || task.countRefusal() >= (isAboutFees ? MAX_FEE_ATTEMPTS : MAX_ATTEMPTS)) {
      return this.#leaveNonce(task, error);
    }
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
      const isLost = call !== null && mined.isReverted && !(await task?.work.isStored(task.round));
      this.#inFlight.delete(nonce);
      charge.settle(mined.gasUsed);
      this.#counts.mined++;
      if (call === null) return this.#retry(transaction, "its nonce was cancelled");
      if (isLost) return this.#retry(transaction, "its transaction reverted", true);
      const confirmed = { ...mined, hash, call };
      this.#reorgWatch.add(transaction, confirmed);
      if (task !== null) this.#retries.forget(task);
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
    const later = laterTask(this.#inFlight.values(), transaction);
    this.#log.warn({ nonce, reason, isFollowed: later !== null }, "an update was not stored");
    if (later !== null) {
      if (task.isPromised) later.promise();
      void later.confirmed.then(
        (confirmed) => task.end(confirmed),
        (error: unknown) => task.fail(error),
      );
    } else if (!task.isPromised) task.end(null);
    else if (isReverted) this.#retries.addReverted(task);
    else this.#retries.add(task);
  }

  #giveUpLate(now: number): void {
    for (const task of this.#takeWaiting((one) => one.isLate(now))) {
      this.#fail(task, this.#notSent({ kind: "queue_full" }));
    }
  }

  /** Fails the waiting updates, because the chain cannot be read or nothing signed. Promised ones are tried again. */
  #failWaiting(error: unknown): void {
    for (const task of this.#takeWaiting()) this.#fail(task, error);
    const isExpected = error instanceof NotSent || error instanceof RpcError;
    if (!isExpected) this.#log.error({ reason: stackOf(error) }, "a pass of the transaction queue failed");
  }

  #fail(task: Task, error: unknown): void {
    task.work.charge.settle(0n);
    if (task.isAwaited) task.refuse(error);
    else this.#retries.add(task, error);
  }

  #close(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#failWaiting(this.#notSent({ kind: "shutting_down" }));
    for (const task of this.#inFlight.tasks) task.end(null);
  }

  #notSent(fault: SendingFault): NotSent {
    return new NotSent(this.client.chain.id, fault);
  }

  #warn(error: unknown, message: string): void {
    this.#log.warn({ reason: describeError(error) }, message);
  }
}
