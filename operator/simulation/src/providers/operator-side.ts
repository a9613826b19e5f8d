import { isQuorum } from "@dataset-oracle/protocol/quorum";
import type { Address } from "viem";
import { type AskedUpdate, askForUpdate } from "../asked-update.js";
import { Chain, type Receipt } from "../chain/chain.js";
import { DatasetModel } from "../chain/dataset-model.js";
import { SimulatedEndpoint } from "../endpoint.js";
import { type FeedsWorld, INVARIANTS_OF_FEEDS } from "../invariants.js";
import type { Journal } from "../journal.js";
import { hashOf } from "../keys.js";
import type { HttpExchange } from "../network.js";
import { type Life, OperatorMachine } from "../operator-process.js";
import { privateKeyOf } from "../provider.js";
import { Random } from "../random.js";
import { START_MS } from "../virtual-time.js";
import { BEAT_SECONDS, CHAIN_ID, DATASET, DEVIATION_BPS, MUCH_ETHER, STUCK_SECONDS } from "../world.js";
import { type Exchanges, PAIRS } from "./exchanges.js";

const BLOCK_MS = 2_000;
const HEARTBEAT_SECONDS = 20;
const REQUEST_EVERY_MS = 7_000;
/** How long the schedule may take until all that is due is stored, as `World.scheduleMs` says for one operator. */
const SCHEDULE_MS = 10_000 + 2 * BEAT_SECONDS * 1_000 + BLOCK_MS + 1_500 + 2 * BLOCK_MS;

/** What a provider answers. */
export interface ProviderAnswer {
  readonly status: number;
  readonly text: string;
  /** That of a problem. */
  readonly code?: string;
}

/** The providers, as the operator meets them. */
interface Committee {
  /** Asks one of them. @returns Null if it does not answer. */
  ask(index: number, path: string, body: string, random: Random): Promise<ProviderAnswer | null>;
  /** Reports whether nothing keeps one of them from signing. */
  isCalm(index: number): boolean;
}

/** An operator whose committee are the simulated providers, the chain that it stores their rounds on, and its callers. */
export class OperatorSide implements FeedsWorld {
  readonly feeds = PAIRS.map((pair) => `SPOTPX/${pair}`);
  readonly asked: AskedUpdate[] = [];
  readonly chain: Chain;
  mined: readonly Receipt[] = [];
  readonly #machine: OperatorMachine;
  readonly #endpoint: SimulatedEndpoint;
  readonly #network: Random;
  readonly #callers: Random;
  readonly #timers: NodeJS.Timeout[] = [];
  #requests = 0;
  /** When fewer than a quorum could sign for the last time, in milliseconds since 1970. */
  #disturbedAt = Date.now();

  constructor(
    private readonly journal: Journal & { readonly exchanges: Exchanges },
    seed: number,
    private readonly members: readonly Address[],
    private readonly committee: Committee,
  ) {
    this.#network = new Random(seed, "network");
    this.#callers = new Random(seed, "callers of the operator");
    const sorted = members.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    const trace = (...parts: readonly unknown[]) => this.trace(...parts);
    this.chain = new Chain({
      ...{ chainId: CHAIN_ID, blockMs: BLOCK_MS, startMs: START_MS, random: new Random(seed, "chain"), trace },
      dataset: new DatasetModel(CHAIN_ID, DATASET, { members: sorted, toleranceBps: 100n }),
    });
    this.#endpoint = new SimulatedEndpoint(0, this.chain, new Random(seed, "endpoint"));
    const policy = { deviationBps: DEVIATION_BPS, minIntervalSeconds: 10, heartbeatSeconds: HEARTBEAT_SECONDS };
    this.#machine = new OperatorMachine({
      ...{
        index: 0,
        chainId: CHAIN_ID,
        dataset: DATASET,
        members,
        endpoints: 1,
        member: null,
        limits: {},
        skewMs: 100,
      },
      ...{ privateKeys: [privateKeyOf("sender", seed)], random: new Random(seed, "operator").next, trace },
      settings: {
        ...{ beatSeconds: BEAT_SECONDS, stuckSeconds: STUCK_SECONDS },
        feeds: this.feeds.map((feed) => ({ dataset: DATASET, keys: [feed], ...policy })),
      },
      serve: (life, exchange) => this.#serve(life, exchange),
      onTrouble: () => {},
    });
    for (const { address } of this.#machine.accounts) this.chain.setBalance(address, MUCH_ETHER);
  }

  begin(): void {
    const checks = INVARIANTS_OF_FEEDS.map((invariant) => invariant(this));
    const onBlock = () => {
      const { head } = this.chain;
      this.chain.mine(Date.now());
      this.mined = this.chain.head === head ? [] : this.chain.head.receipts;
      this.#endpoint.announce();
      const calm = this.members.filter((_, index) => this.committee.isCalm(index));
      if (!isQuorum(calm.length, this.members.length - calm.length)) this.#disturbedAt = Date.now();
      if (this.excuses.length === 0) this.count("calm blocks");
      for (const check of checks) check.atBlock?.();
      this.#checkValues();
      this.chain.arrivals = [];
      this.chain.refusedCalls = [];
    };
    this.#timers.push(
      setInterval(onBlock, BLOCK_MS),
      setInterval(() => this.#request(), REQUEST_EVERY_MS),
    );
    // By then the node has the block in which it gets its funds.
    setTimeout(() => {
      this.#machine.start().catch((error: unknown) => this.violate("start failed", "operator", String(error)));
    }, BLOCK_MS + 1_000);
  }

  /** Stops the chain and the operator. @returns When the operator has stopped. */
  end(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    return this.#machine.stop();
  }

  #serve(life: Life, exchange: HttpExchange): void {
    const { id } = life;
    const [kind, index] = exchange.origin.slice("http://".length).split("-");
    if (kind === "rpc") {
      const isAlive = () => life.isAlive;
      this.#endpoint.serve(exchange, isAlive, (method, outcome) => this.trace(id, "rpc", method, outcome));
    } else this.#askProvider(id, Number(index), exchange);
  }

  #askProvider(id: string, index: number, exchange: HttpExchange): void {
    const ms = this.#network.logNormal(150, 0.6);
    setTimeout(async () => {
      const answer = await this.committee.ask(index, exchange.path, exchange.body, this.#network);
      this.trace(id, `provider-${index}`, exchange.path, answer?.code ?? answer?.status ?? "does not answer");
      if (answer?.status === 200) this.count("signed for an operator");
      setTimeout(() => {
        if (answer === null) exchange.fail("ECONNREFUSED");
        else exchange.answer(answer.status, answer.text);
      }, ms / 2);
    }, ms / 2);
  }

  #request(): void {
    const { life } = this.#machine;
    if (!life?.app) return;
    const caller = `192.0.2.${1 + this.#callers.below(20)}`;
    this.asked.push(askForUpdate(this, ++this.#requests, life, this.#callers.pick(this.feeds), caller));
  }

  /** What is stored is what honest exchanges said. */
  #checkValues(): void {
    for (const { keyHash, round, value, status } of this.mined.flatMap(({ events }) => events)) {
      const index = this.feeds.findIndex((feed) => hashOf(feed) === keyHash);
      const { low, high } = this.journal.exchanges.rangeOf(PAIRS[index] ?? "");
      this.count(status === 1 ? "rounds stored" : "rounds stored without a value");
      if (status === 1 && (BigInt(value) < low || BigInt(value) > high))
        this.violate("wrong value", `${keyHash} ${round}`, `${this.feeds[index]} of round ${round}: ${BigInt(value)}`);
    }
  }

  // ---------------------------------------------------------------- what invariants look at

  get nowMs(): number {
    return this.journal.nowMs;
  }

  trace(...parts: readonly unknown[]): void {
    this.journal.trace(...parts);
  }

  count(name: string): void {
    this.journal.count(name);
  }

  violate(kind: string, id: unknown, detail: string): void {
    this.journal.violate(kind, id, detail);
  }

  heartbeatOf(): number {
    return HEARTBEAT_SECONDS;
  }

  isFailing(): boolean {
    return false;
  }

  /** A feed may be late while fewer than a quorum can sign, and as long as the schedule then needs. */
  get excuses(): readonly string[] {
    return Date.now() - this.#disturbedAt < SCHEDULE_MS ? ["no quorum"] : [];
  }

  get lasting(): readonly string[] {
    return this.excuses;
  }
}
