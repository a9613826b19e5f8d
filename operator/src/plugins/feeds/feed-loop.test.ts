import { setMaxListeners } from "node:events";
import { queryLensAbi } from "@dataset-oracle/protocol/abi/query-lens";
import type { SignedRow } from "@dataset-oracle/protocol/encode-update";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import { pino } from "pino";
import { Counter, Registry } from "prom-client";
import { type Address, decodeFunctionData, encodeFunctionResult, type Hex, numberToHex } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import type { Failure } from "../../reports/failures.js";
import { NoQuorum } from "../../reports/quorum.js";
import { createChainClient } from "../../rpc/client.js";
import { RpcError } from "../../rpc/rpc-error.js";
import type { Role } from "../../schedule/cadence.js";
import type { UpdatePolicy } from "../../schedule/policy.js";
import { Ranking } from "../../schedule/rank.js";
import type { NetworkDataset } from "../../served-network.js";
import { NotSent } from "../../transactions/not-sent.js";
import { KeyNotServed } from "../../update/builder.js";
import { FeedLoop } from "./feed-loop.js";

const DATASET = numberToHex(0xda7a, { size: 20 });
const MEMBERS = [1, 2, 3, 4].map((i) => numberToHex(i, { size: 20 }));
const POLICY = { heartbeatSeconds: 60, deviationBps: 100, minIntervalSeconds: 10 };
const START = 1_767_323_040;
const SENDER = numberToHex(0x5e4d, { size: 20 });
const keyOf = (i: number): Hex => numberToHex(i, { size: 32 });
const [A, B, C] = [keyOf(1), keyOf(2), keyOf(3)] as [Hex, Hex, Hex];
/** Due, and so stored together. */
const OLD = START - 100;

/** What the loop works with. A test changes it, and lets time pass. */
class FeedWorld {
  nowMs = START * 1000;
  /** How far the time of day is off. */
  setMs = 0;
  block = 100;
  isChainDown = false;
  /** How often there is a block; null while no block can be read. */
  blockSeconds: number | null = null;
  readonly values = new Map<Address, bigint>(MEMBERS.map((member) => [member, 1_000n]));
  /** Why the providers do not answer a question for these keys; null if they do. */
  refusal: (keys: readonly Hex[]) => Error | null = () => null;
  /** Why an update cannot be sent; null if it can. */
  fault: Error | null = null;
  /** As `fault`, for an update of some keys. */
  faultOf: (keys: readonly Hex[]) => Error | null = () => this.fault;
  /** The keys that a batch leaves as they are. */
  readonly leftOut = new Set<Hex>();
  readonly asked: (readonly Hex[])[] = [];
  /** The keys of each transaction that was to be sent, and of those that were. */
  readonly tried: (readonly Hex[])[] = [];
  readonly sent: (readonly Hex[])[] = [];
  /** How often the chain was read. */
  reads = 0;
  readonly log: Record<string, unknown>[] = [];
  readonly registry = new Registry();
  readonly #closing = new AbortController();
  readonly loop: FeedLoop;

  constructor(
    readonly stored: Map<Hex, number>,
    role: Role = "alone",
    /** The account that sends a key. */
    readonly senderOf: (key: Hex) => Address = () => SENDER,
    policyOf: (key: Hex) => UpdatePolicy = () => POLICY,
  ) {
    setMaxListeners(0, this.#closing.signal);
    const counter = <L extends string>(name: string, ...labelNames: L[]) =>
      new Counter({ name, help: name, labelNames, registers: [this.registry] });
    const logger = pino({ level: "debug" }, { write: (line: string) => this.log.push(JSON.parse(line)) });
    const clock = { now: () => this.nowMs + this.setMs, monotonic: () => this.nowMs };
    this.loop = new FeedLoop(
      this.#served(),
      [...stored.keys()].map((key) => ({ key, policy: policyOf(key) })),
      { role, members: null, stageMs: 3_500 },
      { failovers: counter("failovers", "network"), outliers: counter("outliers", "network", "dataset", "provider") },
      { clock, random: () => 0.5, logger, closing: this.#closing.signal },
      { feedPollMs: 1_000, beatSeconds: 5, providerTimeoutMs: 3_000 },
    );
  }

  #served(): NetworkDataset {
    const request = async (method: string, params: readonly unknown[]) => this.#answer(method, params);
    const isDown = () => this.isChainDown;
    const client = createChainClient(42, {
      request,
      get isReady() {
        return !isDown();
      },
    });
    const current = { members: MEMBERS, toleranceBps: 100n, hash: "0x" };
    const committee = { current, refreshIfReplaced: async () => false };
    const dataset = { client, chainId: 42, address: DATASET, kind: "median", committee };
    const inFlight = { answer: {}, mined: Promise.resolve(null) };
    const send = async (keys: readonly Hex[], round: bigint) => {
      this.tried.push(keys);
      const fault = this.faultOf(keys);
      if (fault !== null) throw fault;
      this.sent.push(keys);
      const stored = keys.filter((key) => keys.length === 1 || !this.leftOut.has(key));
      for (const key of stored) this.stored.set(key, Number(round));
      return new Map(stored.map((key) => [key, inFlight]));
    };
    const broadcasts = {
      keysInQueues: new Set(),
      senders: { addressFor: (_: Address, key: Hex) => this.senderOf(key) },
      broadcastBatch: send,
      broadcastOwn: async (key: Hex, round: bigint, batched?: Promise<object | null>) =>
        (await batched) ?? (await send([key], round)).get(key),
    };
    return {
      dataset,
      broadcasts,
      builder: { rowsForUpdate: this.#rowsOf, rowsForTurns: this.#rowsOf },
    } as unknown as NetworkDataset;
  }

  readonly #rowsOf = async (keys: readonly Hex[]): Promise<SignedRow[]> => {
    this.asked.push(keys);
    const error = this.refusal(keys);
    if (error !== null) throw error;
    return MEMBERS.map((provider) => {
      const value = numberToHex(this.values.get(provider) ?? 0n, { size: 32 });
      return { provider, missing: 0n, values: keys.map(() => value), signature: "0x" };
    });
  };

  #answer(method: string, params: readonly unknown[]): unknown {
    if (method === "eth_blockNumber") this.reads++;
    if (this.isChainDown) throw new RpcError("timeout", 42, method, "no answer");
    if (method === "eth_blockNumber") return numberToHex(this.block++);
    if (method === "eth_getBlockByNumber") {
      if (this.blockSeconds === null) throw new RpcError("failed", 42, method, "no block");
      const number = params[0] === "latest" ? this.block : Number(params[0]);
      const timestamp = numberToHex(START + (number - this.block) * this.blockSeconds);
      return { number: numberToHex(number), hash: "0x", timestamp, gasLimit: "0x1" };
    }
    const { data } = params[0] as { data: Hex };
    const [, keys] = decodeFunctionData({ abi: queryLensAbi, data }).args;
    const result = keys.map((key) => {
      const updatedAt = BigInt(this.stored.get(key) ?? 0);
      const status = QUERY_STATUSES.indexOf(updatedAt === 0n ? "NOT_AVAILABLE" : "OK");
      return { output: numberToHex(updatedAt === 0n ? 0n : 1_000n, { size: 32 }), updatedAt, status };
    });
    return encodeFunctionResult({ abi: queryLensAbi, functionName: "queryMany", result });
  }

  /** Looks, and again with what was gathered, some seconds later. */
  async looks(afterSeconds = 0): Promise<void> {
    this.nowMs += afterSeconds * 1000;
    for (let look = 0; look < 2; look++) {
      await this.loop.look();
      await new Promise((settled) => setImmediate(settled));
    }
  }

  warnings(): Record<string, unknown>[] {
    return this.log.filter(({ level }) => Number(level) >= 40);
  }
}

const outOfFunds = (sender: Address) => new NotSent(42, { kind: "out_of_funds", sender });
const gasSpent = (retryAfterSeconds: number) =>
  new NotSent(42, { kind: "gas_spent", budget: "feeds", payer: null, retryAfterSeconds });
const storedAt = (round: number, ...keys: readonly Hex[]) => new Map(keys.map((key) => [key, round]));
const failure = (refuses: Failure["refuses"]) => ({ reason: "refused", refuses, host: null, detail: "" }) as Failure;
const silence = () => new NoQuorum(4, "none signed", Array(4).fill(failure(null)));
const refusal = () => new NoQuorum(4, "none signed", Array(4).fill(failure("question")));

let world: FeedWorld;

describe("an operator that is alone", () => {
  beforeEach(() => {
    world = new FeedWorld(storedAt(OLD, A, B, C));
  });

  test("asks once for all feeds that are due, sends them in one transaction, and what it did not store by itself", async () => {
    world.leftOut.add(B);
    await world.looks();
    expect(world.asked).toEqual([[A, B, C]]);
    expect(world.sent).toEqual([[A, B, C], [B]]);
    await world.looks(2);
    expect(world.asked).toHaveLength(1);
  });

  test("asks and sends by itself for each key that was never stored, and for no more than 32 at a time", async () => {
    world = new FeedWorld(storedAt(0, ...Array.from({ length: 40 }, (_, i) => keyOf(i + 1))));
    await world.looks();
    expect(world.asked).toHaveLength(32);
    expect(world.sent.map((keys) => keys.length)).toEqual(Array(32).fill(1));
  });

  test("starts by how often there are blocks, also if they could not be read at first", async () => {
    world = new FeedWorld(storedAt(START - 30, A));
    await world.looks();
    world.blockSeconds = 1;
    await world.looks(1);
    // Where a block can take 15 s, a heartbeat of 60 s needs an update after 41 s.
    await world.looks(14);
    expect(world.sent).toEqual([]);
    await world.looks(10);
    expect(world.sent).toEqual([[A]]);
  });

  test("counts the values outside the committee's tolerance, of their provider only", async () => {
    world.values.set(MEMBERS[3] as Address, 1_011n);
    await world.looks();
    const [count, ...others] = (await world.registry.getMetricsAsJSON()).flatMap(({ name, values }) =>
      name === "outliers" ? values : [],
    );
    expect([count, others]).toMatchObject([{ value: 3, labels: { provider: MEMBERS[3] } }, []]);
  });

  test("asks a silent committee once in a beat, and says once that it fails and works again", async () => {
    world.refusal = silence;
    await world.looks();
    for (let second = 0; second < 20; second++) await world.looks(1);
    expect(world.asked).toEqual(Array(21).fill([A, B, C]));
    expect(world.warnings()).toMatchObject([{ code: "no_quorum", dependency: "committee" }]);
    world.refusal = () => null;
    await world.looks(1);
    expect(new Set(world.sent.flat())).toEqual(new Set([A, B, C]));
    expect(world.log.filter(({ msg }) => msg === "feed: works again")).toMatchObject([{ dependency: "committee" }]);
  });

  test("asks a committee that was silent for what is due, though the first key of the configuration is fresh", async () => {
    world = new FeedWorld(
      new Map([
        [A, START],
        [B, START - 1],
        [C, OLD],
      ]),
    );
    world.refusal = silence;
    await world.looks();
    world.refusal = () => null;
    await world.looks(1);
    expect(world.sent).toEqual([[C]]);
  });

  test("leaves out the one key that is not served, names it once, and asks for it by itself afterwards", async () => {
    const notServed = new KeyNotServed("");
    world.refusal = (keys) => (keys.includes(B) ? (keys.length > 1 ? refusal() : notServed) : null);
    await world.looks();
    expect(world.asked).toEqual([[A, B, C], [A], [B], [C]]);
    expect(new Set(world.sent.flat())).toEqual(new Set([A, C]));
    world.asked.length = 0;
    await world.looks(56);
    expect(world.asked).toEqual([[A, C], [B]]);
    expect(world.warnings()).toMatchObject([{ code: "unknown_key", key: B }]);
  });

  test.each([
    ["the sender cannot pay", outOfFunds(SENDER), { code: "out_of_funds", dependency: "sender", sender: SENDER }],
    ["the RPC does not answer", new RpcError("timeout", 42, "eth_call", "no answer"), { code: "rpc_timeout" }],
    ["its gas is spent", gasSpent(3_600), { dependency: "gas" }],
  ])(
    "while %s, it tries one of the due keys at a time, and sends all that is due at the next beat",
    async (_, fault, line) => {
      // The first key of the configuration is never due.
      world = new FeedWorld(new Map([[A, START + 10_000], ...storedAt(OLD, B, C)]));
      world.fault = fault;
      await world.looks();
      world.tried.length = 0;
      for (let second = 0; second < 60; second++) await world.looks(1);
      expect(world.tried.length).toBeGreaterThan(60 / 5 - 2);
      expect(world.tried.length).toBeLessThan(60 / 2);
      expect(world.tried.every((keys) => keys.length === 1)).toBe(true);
      // A key that fails for a reason of its own must not hold up the others.
      expect(new Set(world.tried.flat())).toEqual(new Set([B, C]));
      expect(world.warnings()).toMatchObject([line]);
      world.fault = null;
      const at = await world.loop.look();
      expect(at).toBeLessThanOrEqual(world.nowMs + 5_000);
      for (let second = 0; second < 6; second++) await world.looks(1);
      expect(new Set(world.sent.flat())).toEqual(new Set([B, C]));
    },
  );

  test("names another cause of the same trouble, once", async () => {
    world.fault = new RpcError("timeout", 42, "eth_call", "no answer");
    await world.looks();
    for (const fault of [outOfFunds(SENDER), new RpcError("timeout", 42, "eth_call", "no answer")]) {
      world.fault = fault;
      for (let second = 0; second < 12; second++) await world.looks(1);
    }
    expect(world.warnings()).toMatchObject([
      { code: "rpc_timeout" },
      { code: "out_of_funds", fix: "Fund the sender." },
    ]);
  });

  test("goes on with the keys of one sender while another cannot pay", async () => {
    const empty = numberToHex(0xe, { size: 20 });
    world = new FeedWorld(storedAt(OLD, A, B, C), "alone", (key) => (key === A ? empty : SENDER));
    world.faultOf = (keys) => (keys[0] === A ? outOfFunds(empty) : null);
    await world.looks();
    expect(world.sent).toEqual([]);
    await world.looks(1);
    expect(new Set(world.sent.flat())).toEqual(new Set([B, C]));
    // A probe of the empty sender takes no key of the other one along.
    for (let minute = 0; minute < 10; minute++) await world.looks(60);
    expect(world.sent.filter((keys) => keys.includes(B)).length).toBeGreaterThan(9);
    expect(world.sent.flat()).not.toContain(A);
  });

  test("whatever its heartbeats, sends each key that is due within ten seconds and a beat of the end of a fault", async () => {
    const keys = Array.from({ length: 12 }, (_, i) => keyOf(i + 1));
    const senders = [SENDER, numberToHex(2, { size: 20 })] as const;
    const heartbeats = [5, 60, 3_600, 86_400];
    world = new FeedWorld(
      new Map(keys.map((key) => [key, START])),
      "alone",
      (key) => senders[Number(BigInt(key) % 2n)] as Address,
      (key) => ({ ...POLICY, minIntervalSeconds: 2, heartbeatSeconds: heartbeats[Number(BigInt(key) % 4n)] as number }),
    );
    const isOverdue = (key: Hex) => {
      const heartbeatMs = 1_000 * (heartbeats[Number(BigInt(key) % 4n)] as number);
      return world.nowMs - (world.stored.get(key) ?? 0) * 1_000 > heartbeatMs + 15_000;
    };
    for (const fault of [outOfFunds(SENDER), gasSpent(60), new RpcError("failed", 42, "eth_call", "")]) {
      world.fault = fault;
      for (let second = 0; second < 300; second++) await world.looks(1);
      world.fault = null;
      for (let second = 0; second < 11; second++) await world.looks(1);
      expect(keys.filter(isOverdue)).toEqual([]);
    }
  });

  test("asks nobody while the chain cannot be read, and looks again within a second", async () => {
    world.isChainDown = true;
    expect(await world.loop.look()).toBeLessThanOrEqual(world.nowMs + 1_000);
    expect(world.asked).toEqual([]);
    world.isChainDown = false;
    await world.looks(2);
    expect(world.sent).toEqual([[A, B, C]]);
  });

  test("looks again as soon as an endpoint is ready, however long the chain could not be read", async () => {
    world.isChainDown = true;
    for (let second = 0; second < 300; second++) await world.looks(1);
    expect(world.reads).toBeGreaterThan(300 / 5);
    expect(world.reads).toBeLessThan(300 / 2);
    world.isChainDown = false;
    expect(await world.loop.look()).toBeLessThanOrEqual(world.nowMs + 1_000);
    await world.looks();
    expect(world.sent).toEqual([[A, B, C]]);
  });
});

describe.each([
  ["alone", 1],
  // A beat, and a stage for each of the other members, none of which sends.
  ["in turns", 5 + 3 * 3.5],
])("once a fault is over that held feeds up, %s,", (turns, waitSeconds) => {
  const EMPTY = numberToHex(0xe, { size: 20 });
  const FAULTS = {
    "no funds": outOfFunds(SENDER),
    "no gas": gasSpent(60),
    "no answer": new RpcError("timeout", 42, "eth_call", "no answer"),
    "a silent committee": silence(),
  };

  test.each([
    ["one sender", []],
    ["two senders, of which one stays empty,", [A, C]],
  ])("with %s all that it can send is sent within ten seconds and the schedule's wait", async (_, ofEmpty) => {
    const senderOf = (key: Hex) => (ofEmpty.includes(key) ? EMPTY : SENDER);
    const due = [B, C, keyOf(4), keyOf(5)];
    const sendable = due.filter((key) => senderOf(key) === SENDER);
    const heartbeatOf = (key: Hex) => (key === A ? 86_400 : 60);
    for (const [name, fault] of Object.entries(FAULTS)) {
      world = new FeedWorld(
        new Map([[A, START], ...storedAt(OLD, ...due)]),
        turns === "alone" ? "alone" : (MEMBERS[0] as Address),
        senderOf,
        (key) => ({ ...POLICY, heartbeatSeconds: heartbeatOf(key) }),
      );
      const isFresh = (key: Hex) => (world.stored.get(key) ?? 0) >= world.nowMs / 1_000 - heartbeatOf(key);
      let isOver = false;
      world.faultOf = ([first]) => {
        if (first !== undefined && senderOf(first) === EMPTY) return outOfFunds(EMPTY);
        return isOver ? null : fault;
      };
      if (fault instanceof NoQuorum) world.refusal = () => (isOver ? null : fault);
      for (let second = 0; second < 60; second++) await world.looks(1);
      expect(due.filter(isFresh)).toEqual([]);
      isOver = true;
      let seconds = 0;
      for (; seconds < 60 && !sendable.every(isFresh); seconds++) await world.looks(1);
      expect([name, seconds <= 10 + waitSeconds]).toEqual([name, true]);
    }
  });
});

test.each([
  ["alone", 3_600_000],
  ["alone", -3_600_000],
  ["in turns", 3_600_000],
  ["in turns", -3_600_000],
])("%s, a clock that is set %d ms ahead and then right holds no feed up", async (turns, setMs) => {
  const leader = new Ranking(DATASET, MEMBERS).orderOf(A, BigInt(OLD))[0] as Address;
  world = new FeedWorld(storedAt(OLD, A), turns === "alone" ? "alone" : leader);
  await world.looks();
  world.stored.set(A, OLD);
  world.sent.length = 0;
  world.setMs = setMs;
  // The providers' clocks are right.
  world.refusal = refusal;
  for (let second = 0; second < 30; second++) {
    await world.looks(1);
    expect(await world.loop.look()).toBeLessThanOrEqual(world.nowMs + 5_000);
  }
  expect(world.sent).toEqual([]);
  world.setMs = 0;
  world.refusal = () => null;
  for (let second = 0; second < 10 && world.sent.length === 0; second++) await world.looks(1);
  expect(world.sent).toEqual([[A]]);
});

test("a member whose turn comes, because those of better ranks did not send, warns and counts it", async () => {
  const round = START - 55;
  const second = new Ranking(DATASET, MEMBERS).orderOf(A, BigInt(round))[1] as Address;
  world = new FeedWorld(storedAt(round, A, B), second);
  world.nowMs += 2_000;
  await world.looks();
  expect([world.asked, world.sent]).toEqual([[[A, B]], []]);
  await world.looks(3.5);
  expect(world.sent).toEqual([[A, B]]);
  expect(world.warnings()).toMatchObject([{ keys: [A, B], rank: 1 }]);
  const { values } = (await world.registry.getMetricsAsJSON()).find(({ name }) => name === "failovers") ?? {};
  expect(values).toMatchObject([{ value: 2, labels: { network: 42 } }]);
});
