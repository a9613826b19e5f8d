import { queryLensAbi } from "@dataset-oracle/protocol/abi/query-lens";
import type { SignedRow } from "@dataset-oracle/protocol/encode-update";
import { QUERY_STATUSES } from "@dataset-oracle/protocol/query-status";
import { problem } from "@dataset-oracle/service/http-server/problem-error";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import { Counter, Registry } from "prom-client";
import { type Address, decodeFunctionData, encodeFunctionResult, type Hex, numberToHex } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { outOfFunds } from "../../problems.js";
import type { Failure } from "../../reports/failures.js";
import { NoQuorum } from "../../reports/quorum.js";
import { createChainClient } from "../../rpc/client.js";
import { RpcError } from "../../rpc/rpc-error.js";
import { Ranking } from "../../schedule/rank.js";
import type { Sender } from "../../schedule/transmission-schedule.js";
import type { ServedDataset } from "../../served-network.js";
import { FeedGasSpent } from "../../transactions/gas-budget.js";
import { FeedLoop } from "./feed-loop.js";

const DATASET = numberToHex(0xda7a, { size: 20 });
const MEMBERS = [1, 2, 3, 4].map((i) => numberToHex(i, { size: 20 }));
const POLICY = { heartbeatSeconds: 60, deviationBps: 100, minIntervalSeconds: 10 };
const START = 1_767_323_040;
const keyOf = (i: number): Hex => numberToHex(i, { size: 32 });
const [A, B, C] = [keyOf(1), keyOf(2), keyOf(3)] as [Hex, Hex, Hex];
/** Due, and so stored together. */
const OLD = START - 100;

/** What the loop works with. A test changes it, and lets time pass. */
class World {
  nowMs = START * 1000;
  block = 100;
  isChainDown = false;
  readonly values = new Map<Address, bigint>(MEMBERS.map((member) => [member, 1_000n]));
  /** Why the providers do not answer a question for these keys; null if they do. */
  refusal: (keys: readonly Hex[]) => Error | null = () => null;
  /** Why an update cannot be sent; null if it can. */
  fault: Error | null = null;
  /** The keys that a batch leaves as they are. */
  readonly leftOut = new Set<Hex>();
  readonly asked: (readonly Hex[])[] = [];
  readonly sent: (readonly Hex[])[] = [];
  readonly log: Record<string, unknown>[] = [];
  readonly registry = new Registry();
  readonly loop: FeedLoop;

  constructor(
    readonly stored: Map<Hex, number>,
    sender: Sender = "alone",
  ) {
    const counter = <L extends string>(name: string, ...labelNames: L[]) =>
      new Counter({ name, help: name, labelNames, registers: [this.registry] });
    const logger = pino({ level: "debug" }, { write: (line: string) => this.log.push(JSON.parse(line)) });
    this.loop = new FeedLoop(
      this.#served(),
      [...stored.keys()].map((key) => ({ key, policy: POLICY })),
      { sender, members: null, stageMs: 3_500 },
      { feedPollMs: 1_000, beatSeconds: 5, providerTimeoutMs: 3_000 },
      { clock: clockOf(() => this.nowMs), random: () => 0.5, logger, closing: new AbortController().signal },
      counter("failovers", "network"),
      counter("outliers", "network", "dataset", "provider"),
    );
  }

  #served(): ServedDataset {
    const client = createChainClient(42, { request: async (method, params) => this.#answer(method, params) });
    const current = { members: MEMBERS, toleranceBps: 100n, hash: "0x" };
    const committee = { current, refreshIfReplaced: async () => false };
    const dataset = { client, chainId: 42, address: DATASET, kind: "median", committee };
    const inFlight = { answer: {}, mined: Promise.resolve(null) };
    const send = async (keys: readonly Hex[], round: bigint) => {
      if (this.fault !== null) throw this.fault;
      this.sent.push(keys);
      const stored = keys.filter((key) => keys.length === 1 || !this.leftOut.has(key));
      for (const key of stored) this.stored.set(key, Number(round));
      return new Map(stored.map((key) => [key, inFlight]));
    };
    const updates = {
      keysInQueues: new Set(),
      broadcastBatch: send,
      broadcastForFeed: async (key: Hex, round: bigint, batched?: Promise<object | null>) =>
        (await batched) ?? (await send([key], round)).get(key),
    };
    return { dataset, updates, builder: { rowsOf: this.#rowsOf } } as unknown as ServedDataset;
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
    if (this.isChainDown) throw new RpcError("timeout", 42, method, "no answer");
    if (method === "eth_blockNumber") return numberToHex(this.block++);
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

const storedAt = (round: number, ...keys: readonly Hex[]) => new Map(keys.map((key) => [key, round]));
const failure = (refuses: Failure["refuses"]) => ({ reason: "refused", refuses, host: null, detail: "" }) as Failure;
const silence = () => new NoQuorum(4, "none signed", Array(4).fill(failure(null)));
const refusal = () => new NoQuorum(4, "none signed", Array(4).fill(failure("question")));

let world: World;

describe("an operator that is alone", () => {
  beforeEach(() => {
    world = new World(storedAt(OLD, A, B, C));
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
    world = new World(storedAt(0, ...Array.from({ length: 40 }, (_, i) => keyOf(i + 1))));
    await world.looks();
    expect(world.asked).toHaveLength(32);
    expect(world.sent.map((keys) => keys.length)).toEqual(Array(32).fill(1));
  });

  test("counts the values outside the committee's tolerance, of their provider only", async () => {
    world.values.set(MEMBERS[3] as Address, 1_011n);
    await world.looks();
    const [count, ...others] = (await world.registry.getMetricsAsJSON()).flatMap(({ name, values }) =>
      name === "outliers" ? values : [],
    );
    expect([count, others]).toMatchObject([{ value: 3, labels: { provider: MEMBERS[3] } }, []]);
  });

  test("asks a silent committee for one key, less and less often, and says once that it fails and works again", async () => {
    world.refusal = silence;
    await world.looks();
    for (let second = 0; second < 20; second++) await world.looks(1);
    expect(world.asked.length).toBeGreaterThan(4);
    expect(world.asked.length).toBeLessThan(16);
    expect(world.asked.slice(1).every((keys) => keys.length === 1)).toBe(true);
    expect(world.warnings()).toMatchObject([{ code: "no_quorum", dependency: "committee" }]);
    world.refusal = () => null;
    await world.looks(6);
    await world.looks(2);
    expect(new Set(world.sent.flat())).toEqual(new Set([A, B, C]));
    expect(world.log.filter(({ msg }) => msg === "feed: works again")).toMatchObject([{ dependency: "committee" }]);
  });

  test("leaves out the one key that is not served, names it once, and asks for it by itself afterwards", async () => {
    const notServed = problem("unknown_key", { explanation: "" });
    world.refusal = (keys) => (keys.includes(B) ? (keys.length > 1 ? refusal() : notServed) : null);
    await world.looks();
    expect(world.asked).toEqual([[A, B, C], [A], [B], [C]]);
    expect(new Set(world.sent.flat())).toEqual(new Set([A, C]));
    world.asked.length = 0;
    await world.looks(56);
    expect(world.asked).toEqual([[A, C], [B]]);
    expect(world.warnings()).toMatchObject([{ code: "unknown_key", key: B }]);
  });

  test("tries one key for all while the sender cannot pay", async () => {
    world.fault = outOfFunds(42, DATASET);
    await world.looks();
    world.asked.length = 0;
    await world.looks();
    expect(world.asked).toEqual([]);
    await world.looks(2);
    expect(world.asked).toHaveLength(1);
    expect(world.asked[0]).toHaveLength(1);
    expect(world.warnings()).toMatchObject([{ code: "out_of_funds", dependency: "sending", fix: "Fund the sender." }]);
    world.fault = null;
    await world.looks(5);
    await world.looks(2);
    expect(new Set(world.sent.flat())).toEqual(new Set([A, B, C]));
  });

  test("waits for as long as its gas is spent", async () => {
    world.fault = new FeedGasSpent(600);
    await world.looks();
    world.asked.length = 0;
    await world.looks(599);
    expect(world.asked).toEqual([]);
    await world.looks(1);
    expect(world.asked).toHaveLength(1);
  });

  test("asks nobody while the chain cannot be read, and looks again within a second", async () => {
    world.isChainDown = true;
    expect(await world.loop.look()).toBeLessThanOrEqual(world.nowMs + 1_000);
    expect(world.asked).toEqual([]);
    world.isChainDown = false;
    await world.looks(2);
    expect(world.sent).toEqual([[A, B, C]]);
  });
});

test("a member whose turn comes, because those of better ranks did not send, warns and counts it", async () => {
  const round = START - 55;
  const second = new Ranking(DATASET, MEMBERS).orderOf(A, BigInt(round))[1] as Address;
  world = new World(storedAt(round, A, B), second);
  world.nowMs += 2_000;
  await world.looks();
  expect([world.asked, world.sent]).toEqual([[[A, B]], []]);
  await world.looks(3.5);
  expect(world.sent).toEqual([[A, B]]);
  expect(world.warnings()).toMatchObject([{ keys: [A, B], rank: 1 }]);
  const { values } = (await world.registry.getMetricsAsJSON()).find(({ name }) => name === "failovers") ?? {};
  expect(values).toMatchObject([{ value: 2, labels: { network: 42 } }]);
});
