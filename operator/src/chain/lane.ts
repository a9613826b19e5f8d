import { setTimeout as delay } from "node:timers/promises";
import { ProblemError } from "@dataset-oracle/service/problem";
import type { Logger } from "pino";
import type { Address, LocalAccount } from "viem";
import type { Clock } from "../clock.js";
import { feesTooHigh, outOfFunds } from "../problems.js";
import { covers, doubled, type Fees, feesFor, type Market, offerOf, raisedFees, readMarket } from "./fees.js";
import { type Job, OutcomeUnknown, type RoundCall, type Sent, type Settled } from "./job.js";
import { type Action, type Content, type Counts, type LaneLimits, planTurn } from "./lane-plan.js";
import { callOf, deferred, type Task, type Transaction, type Version, type Watched } from "./lane-state.js";
import { type Pooled, readPool } from "./pool-content.js";
import { type Mined, readBlockHash, readMined } from "./receipt.js";
import { type Rpc, RpcError, requestQuantity } from "./rpc.js";
import { type Call, type Signed, type Submission, sign, submit } from "./submit.js";

export interface LaneSettings extends LaneLimits {
  /** In wei for each unit of gas. */
  readonly maxFeePerGas: bigint;
  /** How often the lane looks at the chain while something is on its way. */
  readonly pollMs: number;
  /** For how many blocks a mined update is watched. */
  readonly reorgDepth: number;
}

export interface LaneContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly closing: AbortSignal;
}

const NOTHING_GAS = 21_000n;
const IDLE_POLLS = 10;
const ATTEMPTS = 3;
const RETRY_MS = 200;
/** A call that has waited longer for its turn is given up: its round is getting old. */
const MAX_QUEUE_MS = 30_000;
/** A node can count a transaction before it has the receipt. */
const MAX_MISSED = 5;
const OWED_FIRST_MS = 1_000;
const OWED_LONGEST_MS = 30_000;
const OWED_GIVEN_UP_MS = 600_000;

/**
 * One sender on one network. Its state is what it has sent; the nonce comes from the chain in every turn. A turn looks at
 * the chain, plans (lane-plan.ts), and acts; turns follow each other and never overlap.
 */
export class Lane {
  readonly #waiting: Task[] = [];
  readonly #sent = new Map<number, Transaction>();
  readonly #strangers = new Map<number, number>();
  readonly #owed = new Set<Task>();
  #watched: Watched[] = [];
  #head = 0;
  #lookedAt = 0;
  #askedPoolAt = 0;
  #mined = Number.POSITIVE_INFINITY;
  /** By nonce, fees that were too low for it: another transaction has it, or the node wants more. */
  readonly #tooLow = new Map<number, Fees>();
  #isRunning = false;
  #isCalled = false;
  #timer: NodeJS.Timeout | null = null;
  #adopt: (call: Call) => Job<RoundCall> | null = () => null;
  /** What the lane had to do beyond sending, since the start. */
  readonly counts = { replaced: 0, usedUp: 0, offeredAgain: 0, reorged: 0, lost: 0 };

  constructor(
    private readonly rpc: Rpc,
    private readonly account: LocalAccount,
    private readonly settings: LaneSettings,
    private readonly context: LaneContext,
  ) {
    context.closing.addEventListener("abort", () => this.#close(), { once: true });
  }

  get address(): Address {
    return this.account.address;
  }

  /** The updates that wait for a nonce, and the transactions on their way. */
  get depth(): { readonly waiting: number; readonly sent: number } {
    return { waiting: this.#waiting.length, sent: this.#sent.size };
  }

  /**
   * Takes over what the chain shows as pending.
   *
   * @param adopt The job of a transaction that an earlier process has sent; null for one that is no update.
   */
  start(adopt: (call: Call) => Job<RoundCall> | null = () => null): void {
    this.#adopt = adopt;
    this.#call();
  }

  /**
   * @returns Once the RPC has accepted the transaction. From then on the lane sees to it that the chain gets this round of
   * the data point, or a newer one.
   * @throws OutcomeUnknown when it may be mined all the same. Any other error says that nothing is on its way: RpcError,
   * or a problem when the account cannot pay or the fees are too high.
   */
  send<C extends RoundCall>(job: Job<C>): Promise<Sent<C>> {
    return new Promise((resolve, reject) => {
      const caller = {
        resolve: resolve as (sent: Sent<RoundCall>) => void,
        reject,
        giveUpAt: this.context.clock() + MAX_QUEUE_MS,
      };
      const { call } = job;
      const settled = deferred<Settled<RoundCall> | null>();
      const task = { job: job as Job<RoundCall>, call, caller, settled, isPromised: false, attempts: 0, owed: null };
      this.#waiting.push(task);
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
    while (this.#isCalled) {
      this.#isCalled = false;
      await this.#turn().catch((error: unknown) => this.#failWaiting(error));
    }
    this.#isRunning = false;
    if (this.context.closing.aborted) return;
    this.#timer = setTimeout(() => this.#call(), this.settings.pollMs * this.#pace).unref();
  }

  /** How many polls to wait. Who waits for a nonce waits for a block; where nothing is on its way, others may meddle. */
  get #pace(): number {
    if (this.#waiting.length > 0) return 0.25;
    const isBusy = this.#sent.size + this.#strangers.size + this.#watched.length + this.#owed.size > 0;
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
    await this.#watch(counts, now).catch((error: unknown) => this.#warn(error, "the mined updates were not looked at"));
    this.#payOwed();
    this.#giveUpLate(now);
    await this.#meetStrangers(counts, now);
    const inFlight = [...this.#sent.values()].map((one) => ({ ...one, isPayable: covers(one.fees, market) }));
    const actions = planTurn(counts, inFlight, this.#strangers, this.#waiting.length, now, this.settings);
    const [settles, others] = [actions.filter(isSettle), actions.filter((action) => !isSettle(action))];
    await Promise.all(settles.map(({ nonce }) => this.#settle(nonce)));
    for (const action of others) {
      const goesOn = await this.#act(action, market);
      if (!goesOn) break;
    }
  }

  async #count(tag: "latest" | "pending"): Promise<number> {
    return Number(await requestQuantity(this.rpc, "eth_getTransactionCount", [this.account.address, tag]));
  }

  async #meetStrangers({ mined, pending }: Counts, now: number): Promise<void> {
    for (const nonce of this.#tooLow.keys()) if (nonce < mined) this.#tooLow.delete(nonce);
    for (const nonce of this.#strangers.keys()) {
      if (nonce < mined || nonce >= pending || this.#sent.has(nonce)) this.#strangers.delete(nonce);
    }
    for (let nonce = mined; nonce < pending; nonce++) {
      if (this.#sent.has(nonce) || this.#strangers.has(nonce)) continue;
      this.#strangers.set(nonce, now);
      this.#log.warn({ nonce }, "a transaction is pending that this process did not send");
    }
    // At the start, and when a reorganisation has freed nonces, there can be some behind a gap: the counts do not show them.
    const isUnsure = mined < this.#mined;
    this.#mined = mined;
    if (!isUnsure && (this.#strangers.size === 0 || now - this.#askedPoolAt < this.settings.pollMs)) return;
    this.#askedPoolAt = now;
    const hidden = isUnsure ? Array.from({ length: this.settings.maxPending }, (_, i) => pending + i) : [];
    const asked = [...this.#strangers.keys(), ...hidden].filter((nonce) => !this.#sent.has(nonce));
    for (const pooled of await readPool(this.rpc, this.account.address, asked)) {
      const job = this.#adopt(pooled.call);
      if (job !== null && pooled.nonce >= mined && !this.#sent.has(pooled.nonce)) this.#take(pooled, job, now);
    }
  }

  #take({ nonce, hash, fees }: Pooled, job: Job<RoundCall>, now: number): void {
    const { point, call } = job;
    const settled = deferred<Settled<RoundCall> | null>();
    const task: Task = { job, call, caller: null, settled, isPromised: true, attempts: 0, owed: null };
    this.#strangers.delete(nonce);
    this.#log.info({ nonce, transaction: hash, round: call.round.toString() }, "taken over");
    const times = { sentAt: now, offeredAt: now, expiresAt: call.expiresAt };
    const versions = [{ raw: null, hash, call }];
    const sent = { nonce, point, ...times, isAccepted: true, isPayable: true, task, fees, versions };
    this.#sent.set(nonce, { ...sent, missed: 0, renewal: null });
  }

  /** @returns Whether the turn goes on. */
  async #act(action: Action, market: Market): Promise<boolean> {
    const { nonce } = action;
    const transaction = this.#sent.get(nonce);
    if (action.kind === "send") return this.#sendNext(nonce, market);
    if (action.kind === "use_up") await this.#useUp(nonce, market);
    if (transaction === undefined) return true;
    if (action.kind === "offer_again") await this.#offerAgain(transaction, market);
    if (action.kind === "replace") await this.#replace(transaction, action.content, market);
    if (action.kind === "forget") {
      this.#sent.delete(nonce);
      this.#owe(transaction, "its transaction is gone, and its round too old");
    }
    return true;
  }

  async #sendNext(nonce: number, market: Market): Promise<boolean> {
    const task = this.#waiting.shift();
    if (task === undefined) return true;
    try {
      const today = feesFor(this.rpc.chainId, market, this.settings.maxFeePerGas);
      const tooLow = this.#tooLow.get(nonce);
      const fees = tooLow === undefined ? today : raisedFees(tooLow, today, this.settings.maxFeePerGas);
      if (fees === null) throw feesTooHigh(this.rpc.chainId, offerOf(today), this.settings.maxFeePerGas);
      const signed = await sign(this.account, this.rpc.chainId, nonce, task.call, fees);
      task.job.onSigned(signed.hash);
      const submission = await submit(this.rpc, signed);
      if (submission.kind === "rejected") return await this.#refuse(task, nonce, fees, submission);
      this.#begin(task, nonce, fees, signed, submission);
      return true;
    } catch (error) {
      this.#fail(task, error);
      return true;
    }
  }

  #begin(task: Task, nonce: number, fees: Fees, signed: Signed, submission: Submission): void {
    const now = this.context.clock();
    const isAccepted = submission.kind === "accepted";
    this.#sent.set(nonce, {
      nonce,
      point: task.job.point,
      sentAt: now,
      offeredAt: now,
      isAccepted,
      expiresAt: task.call.expiresAt,
      isPayable: true,
      task,
      fees,
      versions: [{ ...signed, call: task.call }],
      missed: 0,
      renewal: null,
    });
    const { caller } = task;
    task.caller = null;
    task.isPromised ||= isAccepted;
    if (isAccepted) caller?.resolve({ hash: signed.hash, settled: task.settled.promise });
    else if (submission.kind === "unknown") caller?.reject(new OutcomeUnknown(submission.error));
  }

  /** @returns Whether the turn goes on: after an error of the nonce's the chain is looked at again. */
  async #refuse(
    task: Task,
    nonce: number,
    fees: Fees,
    { why, error }: Extract<Submission, { kind: "rejected" }>,
  ): Promise<boolean> {
    if (why === "insufficient_funds") throw outOfFunds(this.rpc.chainId);
    const isOfTheFees = why === "replacement_underpriced" || why === "underpriced";
    if (isOfTheFees) this.#tooLow.set(nonce, doubled(fees, this.settings.maxFeePerGas));
    const canBeMended = isOfTheFees || why === "nonce_too_low" || why === "nonce_too_high";
    if (!canBeMended || ++task.attempts >= ATTEMPTS) throw error;
    // A node behind a load balancer can name a nonce that another has already seen used.
    this.#waiting.unshift(task);
    this.#isCalled = true;
    await delay(RETRY_MS);
    return false;
  }

  async #useUp(nonce: number, market: Market): Promise<void> {
    const tooLow = this.#tooLow.get(nonce) ?? null;
    await this.#offer({ nonce, point: null, task: null, versions: [], missed: 0 }, null, tooLow, market);
    this.counts.usedUp++;
  }

  async #offerAgain(transaction: Transaction, market: Market): Promise<void> {
    const version = transaction.versions.at(-1);
    if (version === undefined) return;
    const { raw, hash } = version;
    if (raw === null) return this.#replace(transaction, "newest", market);
    const submission = await submit(this.rpc, { raw, hash });
    this.counts.offeredAgain++;
    this.#log.info({ nonce: transaction.nonce, transaction: version.hash, ...saidOf(submission) }, "offered again");
    const isAccepted = submission.kind === "accepted";
    this.#sent.set(transaction.nonce, { ...transaction, isAccepted, offeredAt: this.context.clock() });
  }

  async #replace(transaction: Transaction, content: Content, market: Market): Promise<void> {
    const call = content === "newest" ? this.#newest(transaction) : callOf(transaction, content, this.context.clock());
    if (call === "later") return;
    await this.#offer(transaction, call, transaction.fees, market);
  }

  /** The newest round, once it is there; if it cannot be had, the same, or nothing when that is too old. */
  #newest(transaction: Transaction): RoundCall | null | "later" {
    const { task, renewal, nonce } = transaction;
    if (task === null || renewal?.result === "stored") return null;
    if (renewal?.result === "failed") return callOf(transaction, "same", this.context.clock());
    if (renewal !== null) return renewal.result === "running" ? "later" : renewal.result;
    const begun: { result: RoundCall | "stored" | "failed" | "running" } = { result: "running" };
    this.#sent.set(nonce, { ...transaction, renewal: begun });
    void task.job
      .renew()
      .then((call) => {
        begun.result = call ?? "stored";
      })
      .catch((error: unknown) => {
        begun.result = "failed";
        this.#warn(error, "no newer round");
      })
      .finally(() => this.#call());
    return "later";
  }

  /** Gives the RPC a transaction for a nonce, with fees that replace what has it. */
  async #offer(
    transaction: Pick<Transaction, "nonce" | "point" | "task" | "versions" | "missed">,
    call: RoundCall | null,
    before: Fees | null,
    market: Market,
  ): Promise<void> {
    const { nonce, task, versions } = transaction;
    const cap = this.settings.maxFeePerGas;
    const today = this.#todaysFees(market);
    const fees = before === null ? today : raisedFees(before, today, cap);
    if (fees === null) return this.#log.warn({ nonce }, "stuck: a replacement would cost more than maxFeePerGasGwei");
    const last = versions.at(-1)?.call;
    // What was estimated with the replaced transaction in the pending block can cost more without it.
    const gas = call === null ? await this.#gasOfNothing() : last && last.gas > call.gas ? last.gas : call.gas;
    const content = call === null ? { to: this.account.address, data: "0x" as const, gas } : { ...call, gas };
    const signed = await sign(this.account, this.rpc.chainId, nonce, content, fees);
    const submission = await submit(this.rpc, signed);
    this.#log.info(
      { nonce, transaction: signed.hash, round: call?.round.toString(), ...saidOf(submission) },
      "replaced",
    );
    if (submission.kind === "rejected") {
      // The next attempt at it offers more.
      if (submission.why !== "replacement_underpriced" && submission.why !== "underpriced") return;
      const known = this.#sent.get(nonce);
      if (known === undefined) this.#tooLow.set(nonce, fees);
      else this.#sent.set(nonce, { ...known, fees });
      return;
    }
    this.counts.replaced++;
    const now = this.context.clock();
    this.#sent.set(nonce, {
      ...transaction,
      sentAt: now,
      offeredAt: now,
      isAccepted: submission.kind === "accepted",
      expiresAt: call?.expiresAt ?? Number.POSITIVE_INFINITY,
      isPayable: true,
      fees,
      task,
      versions: [...versions, { ...signed, call: call === null ? null : { ...call, gas } }],
      renewal: null,
    });
  }

  /** Some chains charge more than 21,000 for a transfer of nothing. */
  async #gasOfNothing(): Promise<bigint> {
    const call = { from: this.account.address, to: this.account.address };
    return requestQuantity(this.rpc, "eth_estimateGas", [call]).catch(() => NOTHING_GAS);
  }

  #todaysFees(market: Market): Fees | null {
    try {
      return feesFor(this.rpc.chainId, market, this.settings.maxFeePerGas);
    } catch {
      return null;
    }
  }

  /** The chain has used its nonce: by one of its versions, or by a stranger's transaction. */
  async #settle(nonce: number): Promise<void> {
    const transaction = this.#sent.get(nonce);
    if (transaction === undefined) return;
    await this.#findMined(transaction).catch((error: unknown) => this.#warn(error, "a receipt was not read"));
  }

  async #findMined(transaction: Transaction): Promise<void> {
    const { nonce, task, versions } = transaction;
    for (const version of versions.toReversed()) {
      const mined = await readMined(this.rpc, version.hash);
      if (mined === null) continue;
      this.#sent.delete(nonce);
      if (task === null) return;
      this.#watched.push({ transaction, version, mined });
      return this.#finish(transaction, version, mined);
    }
    if (transaction.missed + 1 < MAX_MISSED) {
      this.#sent.set(nonce, { ...transaction, missed: transaction.missed + 1 });
      return;
    }
    this.#sent.delete(nonce);
    this.counts.lost++;
    this.#owe(transaction, "another transaction has used its nonce");
  }

  async #finish(transaction: Transaction, version: Version, mined: Mined): Promise<void> {
    const { task } = transaction;
    if (task === null) return;
    if (version.call === null) return this.#owe(transaction, "its nonce was used up");
    if (mined.isReverted && !(await task.job.isStored(version.call.round).catch(() => false))) {
      return this.#owe(transaction, "its transaction reverted");
    }
    task.settled.resolve({ ...mined, hash: version.hash, call: version.call });
  }

  /** A job without a transaction: its newest round is sent anew, unless a later one of the same key is on its way. */
  #owe({ task, point, nonce }: Transaction, reason: string): void {
    if (task === null) return;
    const isFollowed = [...this.#sent.values()].some((other) => other.point === point && other.nonce > nonce);
    this.#log.warn({ nonce, reason, isFollowed }, "an update was not stored");
    if (isFollowed || !task.isPromised) {
      task.settled.resolve(null);
      return;
    }
    const now = this.context.clock();
    task.owed = { since: now, nextTryAt: now, isTrying: false };
    this.#owed.add(task);
    this.#isCalled = true;
  }

  #payOwed(): void {
    const now = this.context.clock();
    for (const task of this.#owed) {
      const { owed } = task;
      if (owed === null || owed.isTrying || now < owed.nextTryAt) continue;
      if (now - owed.since > OWED_GIVEN_UP_MS) {
        this.#log.error({ point: task.job.point }, "an update was given up: no newer round could be had");
        this.#endOwed(task);
        continue;
      }
      owed.isTrying = true;
      void task.job
        .renew()
        .then((call) => {
          this.#endOwed(task, call);
        })
        .catch((error: unknown) => {
          this.#warn(error, "no newer round yet");
          owed.isTrying = false;
          const waited = this.context.clock() - owed.since;
          owed.nextTryAt = this.context.clock() + Math.min(Math.max(waited, OWED_FIRST_MS), OWED_LONGEST_MS);
        })
        .finally(() => this.#call());
    }
  }

  #endOwed(task: Task, call: RoundCall | null = null): void {
    this.#owed.delete(task);
    task.owed = null;
    if (call === null) {
      task.settled.resolve(null);
      return;
    }
    task.call = call;
    task.attempts = 0;
    this.#waiting.push(task);
  }

  /** Whether the blocks with this lane's updates are still the chain's. */
  async #watch(counts: Counts, now: number): Promise<void> {
    if (this.#watched.length === 0 || now - this.#lookedAt < this.settings.pollMs) return;
    this.#lookedAt = now;
    const head = Number(await requestQuantity(this.rpc, "eth_blockNumber", []));
    if (head === this.#head) return;
    this.#head = head;
    const highest = this.#watched.reduce((a, b) => (b.mined.blockNumber > a.mined.blockNumber ? b : a)).mined;
    // A shorter chain is one that a node has not seen all of, or it will soon be longer.
    if (head < highest.blockNumber) return;
    if ((await readBlockHash(this.rpc, highest.blockNumber)) !== highest.blockHash) await this.#lookAgain(counts);
    this.#watched = this.#watched.filter(({ mined }) => head - mined.blockNumber < this.settings.reorgDepth);
  }

  async #lookAgain(counts: Counts): Promise<void> {
    this.counts.reorged++;
    this.#log.warn({ watched: this.#watched.length }, "the chain was reorganised");
    const kept: Watched[] = [];
    for (const watched of this.#watched) {
      const mined = await readMined(this.rpc, watched.version.hash);
      if (mined !== null) {
        kept.push({ ...watched, mined });
        continue;
      }
      const { transaction } = watched;
      // Where the nonce is free again it is replaced at once, by the newest round.
      if (transaction.nonce >= counts.mined)
        this.#sent.set(transaction.nonce, { ...transaction, sentAt: 0, missed: 0 });
      else this.#owe(transaction, "a reorganisation dropped it");
    }
    this.#watched = kept;
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

  /** The chain could not be looked at: who waits is told; what the lane owes stays. */
  #failWaiting(error: unknown): void {
    const waiting = this.#waiting.splice(0);
    for (const task of waiting) this.#fail(task, error);
    if (!(error instanceof ProblemError)) this.#log.error({ err: error }, "a turn of the lane failed");
  }

  #fail(task: Task, error: unknown): void {
    const { caller } = task;
    if (caller === null) {
      const now = this.context.clock();
      task.owed = { since: now, nextTryAt: now + OWED_FIRST_MS, isTrying: false };
      this.#owed.add(task);
      return;
    }
    task.caller = null;
    caller.reject(error);
  }

  #close(): void {
    clearTimeout(this.#timer ?? undefined);
    const tasks = [...this.#owed, ...[...this.#sent.values()].flatMap(({ task }) => task ?? [])];
    for (const { settled } of tasks) settled.resolve(null);
  }

  #warn(error: unknown, message: string): void {
    this.#log.warn({ reason: wordsOf(error) }, message);
  }

  get #log(): Logger {
    return this.context.logger;
  }
}

function isSettle({ kind }: Action): boolean {
  return kind === "settle";
}

function saidOf(submission: Submission): { readonly outcome: string; readonly reason?: string } {
  if (submission.kind === "accepted") return { outcome: "accepted" };
  return { outcome: submission.kind, reason: wordsOf(submission.error) };
}

function wordsOf(error: unknown): string {
  if (error instanceof RpcError) return `${error.method}: ${error.reason}`;
  return error instanceof Error ? error.message : String(error);
}
