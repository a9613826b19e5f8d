import { encodeUpdate } from "@dataset-oracle/protocol/encode-update";
import { MAX_ROUND_AGE, MAX_ROUND_AHEAD } from "@dataset-oracle/protocol/signing-window";
import { encodeUpdateCall } from "@dataset-oracle/protocol/update-call";
import { accountFromPrivateKey } from "@dataset-oracle/service/keys/secp256k1-account";
import { stackOf } from "@dataset-oracle/service/process/logger";
import { type Address, type Hex, stringToHex } from "viem";
import { type AskedUpdate, askForUpdate } from "./asked-update.js";
import { Chain, type Receipt } from "./chain/chain.js";
import { DatasetModel } from "./chain/dataset-model.js";
import { SimulatedEndpoint } from "./endpoint.js";
import type { Episode, Fault } from "./fault.js";
import { Journal } from "./journal.js";
import { hashOf } from "./keys.js";
import { PriceModel } from "./market.js";
import type { HttpExchange } from "./network.js";
import { type Life, OperatorMachine } from "./operator-process.js";
import { privateKeyOf, SimulatedProvider } from "./provider.js";
import { Random } from "./random.js";
import { START_MS, seedLibraries } from "./virtual-time.js";

export const CHAIN_ID = 42;
export const DATASET: Address = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

export interface WorldOptions {
  readonly seed: number;
  readonly operators: number;
  /** Of each operator: 1 or 2. */
  readonly senders: number;
  readonly members: number;
  readonly feeds: number;
  readonly blockMs: number;
  readonly heartbeatSeconds: number;
  /** That of the first feed, which the schedule has last. */
  readonly firstHeartbeatSeconds: number;
  /** The classes of faults that happen. */
  readonly faults: readonly Fault<World>[];
  /** Between the requests of ordinary callers, in milliseconds. */
  readonly requestEveryMs: number;
  /** Called with every line of the trace. */
  readonly onLine: (line: string) => void;
}

interface RunningEpisode {
  readonly fault: Fault<World>;
  readonly episode: Episode;
  readonly from: number;
  /** Null while it lasts. */
  until: number | null;
  /** Ends it. */
  timer?: NodeJS.Timeout;
}

export const DEVIATION_BPS = 50;
export const MIN_INTERVAL_SECONDS = 20;
export const BEAT_SECONDS = 5;
export const STUCK_SECONDS = 30;
/** What accounts have that lack nothing, in wei. */
export const MUCH_ETHER = 10n ** 21n;
const OTHER_KEYS = 20;
/** How many of the feeds move together, so that they are stored in batches. */
const TOGETHER = 3;
/** How soon an owner starts an operator again that has ended by itself. */
const OWNER_MS = 5_000;
/** Faults begin when every feed has been stored, and pause between episodes long enough for all of them to recover. */
const FIRST_FAULT_MS = 120_000;

/** Everything outside the operators: the chain, its endpoints, the committee, the callers, and the faults of all of them. */
export class World extends Journal {
  readonly chain: Chain;
  readonly market: PriceModel;
  readonly endpoints: readonly SimulatedEndpoint[];
  readonly providers: readonly SimulatedProvider[];
  readonly operators: readonly OperatorMachine[];
  readonly feeds: readonly string[];
  /** The keys that are updated on request only. */
  readonly others = Array.from({ length: OTHER_KEYS }, (_, i) => `SPOTPX/K${i}-USD`);
  readonly asked: AskedUpdate[] = [];
  /** What the newest block has; nothing while blocks are missed. */
  mined: readonly Receipt[] = [];
  /** The questions for single reports since the last block. */
  questions: string[] = [];
  /** All requests so far. */
  readonly asks: { readonly machine: OperatorMachine; readonly key: string; readonly at: number }[] = [];
  /** For how long nothing has been wrong that could explain a delay, in milliseconds since the start. */
  calmMs = 0;
  /** As `calmMs`, for what has a nonce or was promised: a gas budget that is spent holds up only what is new. */
  queueCalmMs = 0;
  /** The keys of the updates that operators gave up after ten minutes, by their logs; with the time. */
  readonly givenUp: { readonly life: Life; readonly keys: readonly Hex[]; readonly at: number }[] = [];
  #lookedAt = START_MS;
  #isOver = false;
  #areFaultsOver = false;
  #areRequestsOver = false;
  readonly #episodes: RunningEpisode[] = [];
  readonly #network: Random;
  readonly #callers: Random;
  readonly #relayer = accountFromPrivateKey(privateKeyOf("relayer", 0));
  #relayed = 0;
  #killAt: { life: Life; calls: number; isPassedOn: boolean; then: () => void } | null = null;
  #requests = 0;

  constructor(readonly options: WorldOptions) {
    super(options.onLine);
    const { seed, blockMs } = options;
    seedLibraries(new Random(seed, "libraries").next);
    this.#network = new Random(seed, "network");
    this.#callers = new Random(seed, "callers");
    this.feeds = Array.from({ length: options.feeds }, (_, i) => `SPOTPX/F${i}-USD`);
    const together = this.feeds.slice(-TOGETHER).map((feed) => stringToHex(feed));
    this.market = new PriceModel(seed, START_MS / 1_000, together);
    const members = Array.from(
      { length: options.members },
      (_, i) => new SimulatedProvider(CHAIN_ID, DATASET, privateKeyOf(`provider ${i}`, seed), this.market),
    );
    this.providers = members.sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1));
    const addresses = this.providers.map(({ address }) => address);
    const trace = (...parts: readonly unknown[]) => this.trace(...parts);
    this.chain = new Chain({
      ...{ chainId: CHAIN_ID, blockMs, startMs: START_MS, random: new Random(seed, "chain"), trace },
      dataset: new DatasetModel(CHAIN_ID, DATASET, { members: addresses, toleranceBps: 100n }),
    });
    this.endpoints = [0, 1].map((i) => new SimulatedEndpoint(i, this.chain, new Random(seed, `endpoint ${i}`)));
    const skews = new Random(seed, "skews");
    this.operators = Array.from({ length: options.operators }, (_, index) => {
      const policy = { deviationBps: DEVIATION_BPS, minIntervalSeconds: MIN_INTERVAL_SECONDS };
      return new OperatorMachine({
        ...{ index, chainId: CHAIN_ID, dataset: DATASET, members: addresses, endpoints: this.endpoints.length },
        member: options.operators === 1 ? null : (addresses[index] ?? null),
        privateKeys: [`sender ${index}`, `second sender ${index}`]
          .slice(0, options.senders)
          .map((role) => privateKeyOf(role, seed)),
        settings: {
          ...{
            stageMs: this.stageMs,
            beatSeconds: BEAT_SECONDS,
            stuckSeconds: STUCK_SECONDS,
            ...this.gas,
          },
          feeds: this.feeds.map((feed) => ({
            ...{ dataset: DATASET, keys: [feed], ...policy },
            heartbeatSeconds: this.heartbeatOf(feed),
          })),
        },
        limits: {},
        skewMs: Math.round(skews.between(-250, 250)),
        random: new Random(seed, `operator ${index}`).next,
        serve: (life, exchange) => this.#serve(life, exchange),
        trace,
        onTrouble: (life, { level, msg, code, keys = [] }) => {
          const { id } = life;
          if (msg === "gave up on an update after ten minutes") this.givenUp.push({ life, keys, at: Date.now() });
          if (level >= 50) this.count(`log: ${msg}`);
          // A clock that was set shows rounds as newer or older than they are.
          const isClockSet = options.faults.some(({ name }) => name === "clock-set");
          if (msg.startsWith("another process sends") && !isClockSet) this.violate("no other process", id, id);
          if (msg.startsWith("feed:") && code === "gas_budget_spent") this.violate("feed fails for a caller", id, msg);
        },
      });
    });
    for (const { accounts } of this.operators)
      for (const { address } of accounts) this.chain.setBalance(address, MUCH_ETHER);
    this.chain.setBalance(this.#relayer.address, MUCH_ETHER);
  }

  /** The gas budgets of each operator. */
  get gas() {
    const usual = { gasPerHour: 30_000_000, gasPerHourForNewKeys: 3_000_000, gasPerHourForFeeds: 60_000_000 };
    return Object.assign(usual, ...this.options.faults.map(({ settings }) => settings)) as typeof usual;
  }

  /** Says until when a key has an excuse, in milliseconds since 1970. */
  failUntil(key: string, ms: number): void {
    this.#failUntil.set(hashOf(key), ms);
  }
  readonly #failUntil = new Map<Hex, number>();

  /** Reports whether a key cannot be updated, or could not until a moment ago. */
  isFailing(keyHash: Hex): boolean {
    return Date.now() < (this.#failUntil.get(keyHash) ?? 0);
  }

  heartbeatOf(feed: string): number {
    const { heartbeatSeconds, firstHeartbeatSeconds } = this.options;
    return feed === this.feeds[0] ? firstHeartbeatSeconds : heartbeatSeconds;
  }

  get keys(): readonly string[] {
    return [...this.feeds, ...this.others];
  }

  get stageMs(): number {
    return this.options.blockMs + 1_500;
  }

  /** How long the schedule may take from when nothing is wrong any more until all that is due is stored. */
  get scheduleMs(): number {
    const { operators, blockMs } = this.options;
    return 10_000 + 2 * BEAT_SECONDS * 1_000 + operators * this.stageMs + 2 * blockMs;
  }

  /** The stored round of a key, in seconds since 1970; 0 if it was never stored. */
  storedRound(key: string): number {
    return Number(this.chain.head.state.points.get(hashOf(key))?.round ?? 0n);
  }

  // ---------------------------------------------------------------- time

  /** Calls `work` after every pause until the simulation, or what it returns, ends it. */
  every(pauseMs: number, work: () => void, firstMs = pauseMs): () => void {
    let isEnded = false;
    const again = () => {
      if (isEnded || this.#isOver) return;
      work();
      setTimeout(again, pauseMs);
    };
    setTimeout(again, firstMs);
    return () => {
      isEnded = true;
    };
  }

  /** Begins the life of the world. @param onBlock Called after every block interval. */
  begin(onBlock: () => void): void {
    const { blockMs, requestEveryMs, faults, seed } = this.options;
    this.every(blockMs, () => {
      const { head } = this.chain;
      this.chain.mine(Date.now());
      this.mined = this.chain.head === head ? [] : this.chain.head.receipts;
      for (const endpoint of this.endpoints) endpoint.announce();
      this.#followEpisodes();
      this.#noteCalm();
      onBlock();
      this.chain.arrivals = [];
      this.chain.refusedCalls = [];
      this.questions = [];
    });
    const starts = new Random(seed, "starts");
    // By then every node has the block in which they get their funds.
    const fundedMs = blockMs + 1_000;
    for (const operator of this.operators)
      setTimeout(() => this.startOperator(operator), fundedMs + starts.between(0, 3_000));
    if (requestEveryMs > 0)
      this.every(requestEveryMs, () => this.request(`192.0.2.${1 + this.#callers.below(20)}`), 60_000);
    const random = new Random(seed, "faults");
    for (const fault of faults) if (fault.settings !== undefined) this.beginFault(fault, random);
    if (faults.length > 0) this.#scheduleFaults(random);
  }

  /** Lets what is wrong end, so that all of it can be repaired before the end. */
  endFaults(): void {
    this.#areFaultsOver = true;
    for (const running of this.#episodes)
      if (running.episode.forMs < Number.POSITIVE_INFINITY) this.#endEpisode(running);
    this.trace("faults end");
  }

  /** From now on nobody asks for anything. */
  endRequests(): void {
    this.#areRequestsOver = true;
  }

  /** Stops everything but the operators. */
  end(): void {
    this.#isOver = true;
  }

  startOperator(machine: OperatorMachine): void {
    if (this.#isOver || machine.life !== null) return;
    // Then nobody can know whether the dataset is one, and its owner looks what is wrong.
    const doAllLie = () => this.endpoints.every(({ lie }) => lie !== null);
    const didAllLie = doAllLie();
    machine.start().catch((error: unknown) => {
      if (!didAllLie && !doAllLie()) return this.violate("start failed", machine.lives, stackOf(error));
      machine.kill();
      setTimeout(() => this.startOperator(machine), OWNER_MS);
    });
  }

  // ---------------------------------------------------------------- faults

  #scheduleFaults(random: Random): void {
    const begin = () => {
      if (this.#isOver || this.#areFaultsOver) return;
      const lasting = this.#episodes.filter(({ until }) => until === null).map(({ fault }) => fault.group);
      const possible = this.options.faults.filter(({ group }) => !lasting.includes(group));
      if (possible.length > 0 && lasting.length < 3) this.beginFault(random.pick(possible), random);
      setTimeout(begin, random.between(5_000, 120_000));
    };
    setTimeout(begin, FIRST_FAULT_MS);
  }

  beginFault(fault: Fault<World>, random: Random): void {
    this.trace("fault begins", fault.name);
    this.count(`fault: ${fault.name}`);
    const episode = fault.begin(this, random);
    const running: RunningEpisode = { fault, episode, from: Date.now(), until: null };
    this.#episodes.push(running);
    if (episode.hasEnded === undefined && episode.forMs < Number.POSITIVE_INFINITY)
      running.timer = setTimeout(() => this.#endEpisode(running), episode.forMs);
  }

  #endEpisode(running: RunningEpisode): void {
    if (running.until !== null) return;
    running.until = Date.now();
    clearTimeout(running.timer);
    running.episode.end?.();
    this.trace("fault ends", running.fault.name);
  }

  #followEpisodes(): void {
    for (const running of this.#episodes)
      if (running.until === null && running.episode.hasEnded?.()) this.#endEpisode(running);
  }

  /** The faults that can explain a delay now: those that last, and those that ended a recovery time ago at most. */
  get excuses(): readonly string[] {
    const excusing = this.#episodes.filter(({ fault, until }) => {
      const replacements =
        fault.replacements ?? (this.options.operators === 1 && fault.group === "operators" ? 1 : null);
      if (replacements === null) return false;
      const recoveryMs = this.scheduleMs + replacements * (STUCK_SECONDS * 1_000 + 2 * this.options.blockMs);
      return until === null || Date.now() - until < recoveryMs;
    });
    return excusing.map(({ fault }) => fault.name);
  }

  /** The faults that last, for a violation's detail. */
  get lasting(): readonly string[] {
    return this.#episodes.filter(({ until }) => until === null).map(({ fault }) => fault.name);
  }

  #noteCalm(): void {
    const { excuses } = this;
    const ms = Date.now() - this.#lookedAt;
    if (excuses.length === 0) this.calmMs += ms;
    if (excuses.every((name) => name === "gas-budget")) this.queueCalmMs += ms;
    this.#lookedAt = Date.now();
  }

  /** Kills the process of a machine at one of its next calls to the outside. */
  killAtCall(machine: OperatorMachine, calls: number, then: () => void): void {
    const { life } = machine;
    if (life === null) then();
    else this.#killAt = { life, calls, isPassedOn: this.#network.chance(0.5), then };
  }

  // ---------------------------------------------------------------- the network

  #serve(life: Life, exchange: HttpExchange): void {
    if (!life.isAlive) return;
    const { id, operator } = life;
    const target = exchange.origin.slice("http://".length);
    const kill = this.#killAt;
    if (kill?.life === life && kill.calls-- <= 0) {
      this.#killAt = null;
      if (!kill.isPassedOn) operator.kill();
      else queueMicrotask(() => operator.kill());
      kill.then();
      if (!kill.isPassedOn) return;
    }
    const isAlive = () => life.isAlive;
    const [kind, index] = target.split("-");
    if (kind === "rpc") {
      this.endpoints[Number(index)]?.serve(exchange, isAlive, (method, outcome) =>
        this.trace(id, target, method, outcome),
      );
    } else this.#askProvider(life, Number(index), exchange);
  }

  #askProvider(life: Life, index: number, exchange: HttpExchange): void {
    const provider = this.providers[index];
    if (provider === undefined) return;
    const [ms, operator] = [this.#network.logNormal(150, 0.6), life.operator];
    if (exchange.path === "/report") this.questions.push(`${life.id} asked provider-${index}: ${exchange.body}`);
    if (operator.unreachable.has(index)) {
      this.trace(life.id, `provider-${index}`, "unreachable");
      return;
    }
    setTimeout(() => {
      if (!life.isAlive) return;
      const { timestamp } = JSON.parse(exchange.body) as { timestamp: number };
      const age = Math.floor(Date.now() / 1000) - timestamp;
      const isInWindow = age <= Number(MAX_ROUND_AGE) && age >= -Number(MAX_ROUND_AHEAD);
      const answer =
        isInWindow || provider.hasDecided(exchange.body)
          ? provider.answer(exchange.path, exchange.body, operator.index)
          : { status: 400, text: JSON.stringify({ code: age > 0 ? "round_too_old" : "round_in_future" }), delayMs: 0 };
      const outcome = answer === null || typeof answer === "string" ? answer : answer.status;
      this.trace(life.id, `provider-${index}`, exchange.path, timestamp, outcome, provider.misbehavior ?? "");
      if (answer === null) return;
      const [delayMs, isRefused] = answer === "refuses" ? [5, true] : [ms / 2 + answer.delayMs, false];
      setTimeout(() => {
        if (!life.isAlive) return;
        if (isRefused || typeof answer === "string") exchange.fail("ECONNREFUSED");
        else exchange.answer(answer.status, answer.text);
      }, delayMs);
    }, ms / 2);
  }

  // ---------------------------------------------------------------- requests

  /** Has callers ask an operator that serves for an update of one key. */
  request(...callers: readonly string[]): void {
    const random = this.#callers;
    const serving = this.operators.flatMap(({ life }) => (life?.app ? [life] : []));
    if (serving.length === 0) return;
    const life = random.pick(serving);
    const key = random.pick(random.chance(0.3) ? this.feeds : this.others);
    for (const caller of callers) this.#ask(life, key, caller);
  }

  /** Has a caller ask every operator that serves for an update of a key. */
  requestKey(key: string, caller: string): void {
    for (const { life } of this.operators) if (life?.app) this.#ask(life, key, caller);
  }

  #ask(life: Life, key: string, caller: string): void {
    if (this.#areRequestsOver) return;
    const one = askForUpdate(this, ++this.#requests, life, key, caller);
    this.asked.push(one);
    this.asks.push({ machine: life.operator, key, at: one.at });
  }

  /** Has a stranger with reports of its own store a round of a key, by default the newest, before the operators do. */
  async relay(key: string, round = Math.floor(Date.now() / 1000)): Promise<void> {
    const hexKey = stringToHex(key);
    const body = JSON.stringify({ network_id: CHAIN_ID, dataset: DATASET, key: hexKey, timestamp: round });
    const reports = this.providers.flatMap((provider) => {
      const answer = provider.misbehavior === null ? provider.answer("/report", body, -1) : null;
      return answer === null || answer === "refuses" || answer.status !== 200 ? [] : [JSON.parse(answer.text)];
    });
    if (reports.length <= (2 * this.providers.length) / 3) return;
    const { committee } = this.chain.dataset;
    const header = { key: hexKey, round: BigInt(round) };
    const data = encodeUpdateCall(encodeUpdate("median", header, committee, "OK", reports));
    const { baseFee } = this.chain.head;
    const raw = await this.#relayer.signTransaction({
      ...{ type: "eip1559", chainId: CHAIN_ID, nonce: this.#relayed++, to: DATASET, data, gas: 400_000n },
      ...{ maxFeePerGas: baseFee * 4n, maxPriorityFeePerGas: 2_000_000_000n },
    });
    this.chain.submit(raw, this.chain.head, Date.now());
  }
}
