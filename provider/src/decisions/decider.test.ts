import { cpSync, mkdtempSync, readdirSync, rmSync, truncateSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { ok } from "@dataset-oracle/protocol/result";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import fc from "fast-check";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Metrics } from "../metrics.js";
import type { DataPoint } from "../served-keys.js";
import type { PairSource } from "../spot-price.js";
import { ExtractionPool } from "../web-oracle/extraction-pool.js";
import { RateLimitedExtractor } from "../web-oracle/rate-limited-extractor.js";
import { Decider } from "./decider.js";
import { DecisionMemory } from "./decision-memory.js";
import { Lease } from "./lease.js";

// Waiting for the disk matters when the power fails, and nothing here does.
const { open } = fs;
beforeAll(() => {
  fs.open = async (...args) => Object.assign(await open(...args), { sync: async () => {} });
  syncBuiltinESMExports();
});
afterAll(() => {
  fs.open = open;
  syncBuiltinESMExports();
});

const START = 1_800_000_000n;
const LOGGER = pino({ level: "silent" });
const METRICS = new Metrics(new Registry());
const EXTRACTOR = new RateLimitedExtractor(new ExtractionPool(), false);
const CALLER = { id: "127.0.0.1", mayUseReserve: false, trace: null };

let folder: string;
let time: bigint;
/** Called while a source is being read. */
let whileReading: () => void | Promise<void>;
let price = 0n;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "decider-")), "lease");
  time = START;
  whileReading = () => {};
});

function setClock(by: bigint): void {
  time += by;
}

/** A source that quotes another price each time, which reveals a decision that was made twice. */
const SOURCE = {
  name: "changing",
  request: { method: "GET", url: "https://exchange.example/", rateLimit: null, source: { name: "changing" } },
  read: () => ok({ value: ++price, quotedAt: null }),
  rate: null,
} as unknown as PairSource;

function dataPoint(pair: string): DataPoint {
  const key = spotPriceKey(pair);
  const dataset = { kind: "median", chainId: 42, keyForm: "SPOT_PRICE" } as DataPoint["dataset"];
  return { id: pair, dataset, key: { kind: "spot_price", key, name: pair, sources: [SOURCE] } };
}
const ETH = dataPoint("ETH-USD");

const leases: Lease[] = [];
const closeLeases = () => Promise.all(leases.splice(0).map((lease) => lease.close()));
afterEach(closeLeases);

/** A provider's life: it starts, and forgets everything but its lease when it is killed. */
async function live({ capacity = 10_000 } = {}): Promise<Decider> {
  const read = async () => {
    await whileReading();
    return ok({ document: null, text: "" });
  };
  const lease = await Lease.take(folder, { now: () => time, logger: LOGGER });
  leases.push(lease);
  return new Decider({
    reader: { read } as never,
    extractor: EXTRACTOR,
    policy: { minSources: 1, maxDeviationBps: 200, maxQuoteAge: 120 },
    memory: new DecisionMemory({ hasReserve: false, capacity }),
    lease,
    evidence: null,
    now: () => time,
    logger: LOGGER,
    metrics: METRICS,
  });
}

/** Returns the decision's value, or the code of the problem. */
async function ask(decider: Decider, round: bigint, point = ETH): Promise<string> {
  try {
    const [decision] = await decider.decide([point], round, CALLER);
    return decision?.value ?? "";
  } catch (error) {
    if (error instanceof ProblemError) return error.code;
    throw error;
  }
}

describe("while a value is read", () => {
  it.each<[what: string, change: () => void | Promise<void>, code: string]>([
    ["the clock is set back", () => setClock(-60n), "round_in_future"],
    ["the clock is set ahead", () => setClock(60n), "round_too_old"],
    ["another process takes the lease", async () => void (await live()), "not_ready"],
    ["the lease is removed", () => rmSync(folder, { recursive: true }), "not_ready"],
  ])("%s: nothing is decided", async (_, change, code) => {
    const decider = await live();
    time += 10n;
    whileReading = change;
    expect(await ask(decider, START + 10n)).toBe(code);
  });

  it("another request decides the round: its decision stands for both", async () => {
    const decider = await live();
    time += 10n;
    const both = await Promise.all([ask(decider, time), ask(decider, time)]);
    expect(both[0]).toMatch(/^0x/);
    expect(both[1]).toBe(both[0]);
  });
});

it("a running process decides no round again that it forgot, with the clock set back", async () => {
  const decider = await live();
  time += 100n;
  const signed = time;
  expect(await ask(decider, signed)).toMatch(/^0x/);
  time += 700n;
  expect(await ask(decider, time)).toMatch(/^0x/);
  time = signed;
  for (const round of [signed, signed - 3n]) expect(await ask(decider, round)).toBe("round_forgotten");
  time = signed + 1n;
  expect(await ask(decider, time)).toMatch(/^0x/);
});

it("a full memory refuses further rounds, and repeats those it has", async () => {
  const decider = await live({ capacity: 2 });
  time += 10n;
  const first = await ask(decider, time);
  await ask(decider, time - 1n);
  expect(await ask(decider, time - 2n)).toBe("too_many_rounds");
  expect(await ask(decider, time)).toBe(first);
});

it("is ready once the usual rounds can be signed, and says until when it is not", async () => {
  const decider = await live();
  const problem = await decider.unreadiness();
  expect(problem).toMatchObject({ status: 503, code: "not_ready", headers: { "retry-after": "5" } });
  expect(problem?.detail).toContain(`no new round up to ${START + 2n} (2027-01-15T08:00:02Z)`);
  time += 4n;
  expect(await decider.unreadiness()).not.toBeNull();
  time += 1n;
  expect(await decider.unreadiness()).toBeNull();
});

/** An event in a provider's history. Times are in seconds. */
type Event =
  | { readonly kind: "wait"; readonly seconds: number }
  | { readonly kind: "ask"; readonly age: number; readonly pair: number; readonly sameTurn: boolean }
  | { readonly kind: "restart" | "second process" }
  | { readonly kind: "set the clock"; readonly by: number }
  | { readonly kind: "lose the folder"; readonly how: "remove" | "truncate" | "restore" };

const ANY_EVENT = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("wait" as const), seconds: fc.nat(9) }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("ask" as const),
      age: fc.integer({ min: 0, max: 6 }),
      pair: fc.nat(1),
      sameTurn: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("restart" as const, "second process" as const) }) },
);
const CLOCK = fc.record({
  kind: fc.constant("set the clock" as const),
  by: fc.constantFrom(-3_600, -700, -30, -3, -1, 1, 3, 30, 700, 3_600),
});
const FOLDER = fc.record({
  kind: fc.constant("lose the folder" as const),
  how: fc.constantFrom("remove" as const, "truncate" as const, "restore" as const),
});

/** Plays a history, and returns how often a value was told; throws when a data point has two values at a round. */
async function play(history: readonly Event[]): Promise<number> {
  folder = join(mkdtempSync(join(tmpdir(), "history-")), "lease");
  time = START;
  const told = new Map<string, string>();
  const points = [ETH, dataPoint("BTC-USD")];
  const lives = [await live()];
  cpSync(folder, `${folder}-backup`, { recursive: true });
  let asking: Promise<void>[] = [];
  let answers = 0;
  const askAll = async (age: number, pair: number) => {
    const point = points[pair] ?? ETH;
    const round = time - BigInt(age);
    for (const decider of lives) {
      const value = await ask(decider, round, point);
      if (!value.startsWith("0x")) continue;
      const id = `${point.id} at ${round}`;
      expect(`${id}: ${value}`).toBe(`${id}: ${told.get(id) ?? value}`);
      told.set(id, value);
      answers += 1;
    }
  };
  for (const event of history) {
    if (event.kind === "ask" && event.sameTurn) {
      asking.push(askAll(event.age, event.pair));
      continue;
    }
    if (event.kind === "wait") time += BigInt(event.seconds);
    if (event.kind === "set the clock") time += BigInt(event.by);
    await Promise.all(asking);
    asking = [];
    if (event.kind === "ask") await askAll(event.age, event.pair);
    if (event.kind === "restart") lives.splice(0, lives.length, await live());
    if (event.kind === "second process") lives.push(await live());
    if (event.kind === "lose the folder") {
      const newest = readdirSync(folder).sort().at(-1) ?? "";
      if (event.how === "truncate") truncateSync(join(folder, newest), 7);
      else rmSync(folder, { recursive: true });
      if (event.how === "restore") cpSync(`${folder}-backup`, folder, { recursive: true });
      // The processes that used it are killed with it, or find out.
      lives.push(await live());
    }
  }
  await Promise.all(asking);
  await closeLeases();
  return answers;
}

describe("whatever happens, no data point has two values at a round", () => {
  const check = async (events: fc.Arbitrary<Event>) => {
    let answers = 0;
    const property = fc.asyncProperty(fc.array(events, { minLength: 10, maxLength: 50 }), async (history) => {
      answers += await play(history);
    });
    await fc.assert(property, { numRuns: 100, seed: 1 });
    expect(answers).toBeGreaterThan(100);
  };

  it("with the clock set back and ahead, and the folder kept", () =>
    check(fc.oneof({ weight: 8, arbitrary: ANY_EVENT }, { weight: 1, arbitrary: CLOCK })));
  it("with the folder removed, damaged or restored, and a clock that only goes on", () =>
    check(fc.oneof({ weight: 8, arbitrary: ANY_EVENT }, { weight: 1, arbitrary: FOLDER })));
});
