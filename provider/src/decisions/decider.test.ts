import { cpSync, mkdtempSync, readdirSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spotPriceKey } from "@dataset-oracle/protocol/dataset-key";
import { ok, type Result } from "@dataset-oracle/protocol/result";
import { ProblemError } from "@dataset-oracle/service/http-server/problem-error";
import { Trace } from "@dataset-oracle/service/http-server/trace";
import { SYSTEM_CLOCK } from "@dataset-oracle/service/process/context";
import fc from "fast-check";
import { pino } from "pino";
import { afterEach, describe, expect, test, vi } from "vitest";
import { contextAt } from "../../test/support/test-context.js";
import type { FreshValue, ServedDataPoint } from "../keys/served-keys.js";
import { Metrics } from "../metrics.js";
import { failed, throttled } from "../source/source-failure.js";
import type { PairSource } from "../value/spot-price.js";
import { ExtractionPool } from "../web-oracle/extraction-pool.js";
import { RateLimitedExtractor } from "../web-oracle/rate-limited-extractor.js";
import { Decider } from "./decider.js";
import { type Decision, DecisionMemory } from "./decision-memory.js";
import { Lease } from "./lease.js";

const START = 1_800_000_000n;
const EXTRACTOR = new RateLimitedExtractor(new ExtractionPool(SYSTEM_CLOCK), SYSTEM_CLOCK, false);
const CALLER = { id: "127.0.0.1", mayUseReserve: false, trace: null };

/** A data point whose one source answers what the reader does. */
function dataPoint(pair: string, sources = 1): ServedDataPoint {
  const key = spotPriceKey(pair);
  const source = {
    name: "exchange",
    request: { method: "GET", url: `https://exchange.example/${pair}`, rateLimit: null, source: { name: "exchange" } },
    read: (value: bigint) => ok({ value, quotedAt: null }),
    rate: null,
  } as unknown as PairSource;
  const dataset = { kind: "median", chainId: 42, keyForm: "SPOT_PRICE" } as ServedDataPoint["dataset"];
  return {
    id: pair,
    dataset,
    key: { kind: "spot_price", key, name: `SPOTPX/${pair}`, sources: Array(sources).fill(source) },
  };
}
const [ETH, BTC] = [dataPoint("ETH-USD"), dataPoint("BTC-USD")];

interface DeciderOptions {
  readonly capacity?: number;
  readonly hasReserve?: boolean;
  readonly now?: () => bigint;
  readonly lease?: Pick<Lease, "refusedThrough" | "problem" | "cover" | "permits">;
  readonly hasEvidence?: boolean;
}

/** A decider with a lease that permits everything, whose source quotes another price each time. */
function open({
  capacity = 10_000,
  hasReserve = false,
  now,
  lease: ownLease,
  hasEvidence = true,
}: DeciderOptions = {}) {
  const clock = { now: START };
  const asked: string[] = [];
  const [logs, kept, slept]: [Record<string, unknown>[], [FreshValue, bigint, Decision][], number[]] = [[], [], []];
  const lease = {
    refusedThrough: 0n,
    problem: null as Lease["problem"],
    covered: [] as bigint[],
    cover: async (round: bigint) => void lease.covered.push(round),
    permits: (_round: bigint) => true,
  };
  const reader = {
    answer: (_url: string): Result<unknown, object> | Promise<Result<unknown, object>> => ok({ document: price() }),
    async read({ url }: { readonly url: string }) {
      asked.push(url.replace(/.*\//, ""));
      return reader.answer(url);
    },
  };
  const context = contextAt(
    now ?? (() => clock.now),
    pino({}, { write: (line: string) => void logs.push(JSON.parse(line)) }),
  );
  const { registry } = context;
  const metrics = new Metrics(registry);
  // Waits end at once, and move the clock instead.
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((end: () => void, ms: number) => {
    slept.push(ms);
    clock.now += BigInt(ms / 1_000);
    queueMicrotask(end);
    return { unref: () => undefined };
  }) as never);
  const keep = (value: FreshValue, round: bigint, decision: Decision) => void kept.push([value, round, decision]);
  const stores = { spot_price: { keep }, web_oracle: { keep: () => expect.unreachable() } };
  const decider = new Decider(
    reader as never,
    EXTRACTOR,
    new DecisionMemory({ hasReserve, capacity }),
    ownLease ?? lease,
    hasEvidence ? stores : null,
    metrics,
    context,
    { minSources: 1, maxDeviationBps: 200, maxQuoteAge: 120 },
  );
  return { decider, clock, lease, reader, asked, logs, kept, slept, metrics, registry };
}

let lastPrice = 0n;
const price = () => ++lastPrice;

/** Returns the decision's value, or the code of the problem. */
async function ask(decider: Decider, round: bigint, point = ETH, caller = CALLER): Promise<string> {
  try {
    const [decision] = await decider.decide([point], round, caller);
    return decision?.value ?? "";
  } catch (error) {
    if (error instanceof ProblemError) return error.code;
    throw error;
  }
}
const A_VALUE = expect.stringMatching(/^0x[0-9a-f]{64}$/);

afterEach(() => void vi.restoreAllMocks());

describe("a decision", () => {
  test("is made once for each data point and round, in the order in which they are asked for", async () => {
    const { decider, clock, asked, kept, metrics } = open();
    const [eth] = await decider.decide([ETH], START, CALLER);
    const [btc, again] = await decider.decide([BTC, ETH], START, CALLER);
    expect([eth?.outcome, btc?.outcome, again]).toEqual(["OK", "OK", eth]);
    expect(btc).not.toEqual(eth);
    expect(asked).toEqual(["ETH-USD", "BTC-USD"]);
    const [later] = await decider.decide([ETH], START - 1n, CALLER);
    expect(later).not.toEqual(eth);
    const evidence = kept.map(([{ dataPoint, at, answers }, round, decision]) => {
      return [dataPoint, at, answers.size, round, decision];
    });
    expect(evidence).toEqual([
      [ETH, START, 1, START, eth],
      [BTC, START, 1, START, btc],
      [ETH, START, 1, START - 1n, later],
    ]);
    const { values } = await metrics.decisions.get();
    expect(values).toEqual([{ labels: { form: "SPOT_PRICE", outcome: "OK" }, value: 3 }]);
    // It is repeated when its round can no longer be decided.
    clock.now += 500n;
    expect(await decider.decide([ETH], START, CALLER)).toEqual([eth]);
  });

  test("says what each source's part in it was, whether evidence is kept or not", async () => {
    const { decider, registry } = open({ hasEvidence: false });
    await ask(decider, START);
    const note = { name: "exchange", value: String(lastPrice), quote_time: null, used: true, reason: null };
    expect(decider.notesOf(ETH, START)).toEqual([note]);
    expect(await registry.metrics()).toContain('provider_source_prices_total{source="exchange",outcome="used"} 1');
    expect([decider.notesOf(ETH, START - 1n), decider.notesOf(BTC, START)]).toEqual([undefined, undefined]);
  });

  test("are asked for by each caller at its own cost, before anything is read, and by operators without", async () => {
    const { decider, reader, asked } = open();
    const row = Array.from({ length: 256 }, (_, index) => dataPoint(`P${index}-USD`));
    reader.answer = () => throttled("is not queried", 1);
    const refusal = (caller = CALLER) =>
      decider.decide(row, START, caller).then(
        () => "decided",
        (error: ProblemError) => error.code,
      );
    const codes: string[] = [];
    for (let i = 0; i < 20; i++) codes.push(await refusal());
    expect(new Set(codes)).toEqual(new Set(["source_busy", "too_many_rounds"]));
    expect(asked.length).toBe(row.length * codes.filter((code) => code === "source_busy").length);
    reader.answer = () => ok({ document: price() });
    expect(await refusal({ ...CALLER, id: "192.0.2.1" })).toBe("decided");
    const operator = { ...CALLER, mayUseReserve: true };
    for (const round of [-2n, -1n, 1n]) await decider.decide(row, START + round, operator);
    expect(await refusal(operator)).toBe("decided");
  });

  test("and those that are known are charged to callers, except to operators", async () => {
    const { decider } = open();
    const operator = { ...CALLER, mayUseReserve: true };
    decider.charge(operator, 1_000_000);
    decider.charge(CALLER, 1_000_000);
    expect(() => decider.charge(CALLER, 1)).toThrow("may ask for 200 per second");
    expect(await ask(decider, START)).toBe("too_many_rounds");
    expect(await ask(decider, START, ETH, operator)).not.toBe("too_many_rounds");
    expect(await ask(decider, START, ETH)).not.toBe("too_many_rounds");
  });

  test("keep no more notes on their sources than fit into a bound", async () => {
    const { decider, reader } = open({ capacity: 100_000 });
    reader.answer = () => failed("timeout", "x".repeat(200));
    const operator = { ...CALLER, mayUseReserve: true };
    const [first, ...others] = Array.from({ length: 4_000 }, (_, index) => dataPoint(`P${index}-USD`, 32));
    await decider.decide([first as ServedDataPoint], START, operator);
    expect(decider.notesOf(first as ServedDataPoint, START)?.length).toBe(32);
    await decider.decide(others, START, operator);
    expect(decider.notesOf(first as ServedDataPoint, START)).toBeUndefined();
    expect(decider.notesOf(others.at(-1) as ServedDataPoint, START)?.length).toBe(32);
  });

  test("of a row without values is logged in one line, and not at all when the caller's share of the log is used up", async () => {
    const { decider, reader, logs } = open();
    reader.answer = () => failed("timeout", "no answer");
    await decider.decide([ETH, BTC], START, CALLER);
    expect(logs).toMatchObject([{ msg: "no value", key: "SPOTPX/ETH-USD", more: 1 }]);
    logs.length = 0;
    await decider.decide([ETH], START + 1n, { ...CALLER, trace: new Trace("id", "trace", "00", false, Math.random) });
    expect(logs).toEqual([]);
  });

  test("may be that there is no value, which is logged with the reason", async () => {
    const { decider, reader, logs, metrics } = open();
    reader.answer = () => failed("timeout", "no answer");
    expect(await decider.decide([ETH], START, CALLER)).toMatchObject([{ outcome: "NOT_AVAILABLE" }]);
    const reason = "only 0 of 1 sources can be used";
    expect(logs).toMatchObject([{ msg: "no value", key: "SPOTPX/ETH-USD", round: Number(START), reason }]);
    const { values } = await metrics.decisions.get();
    expect(values).toMatchObject([{ labels: { outcome: "NOT_AVAILABLE" }, value: 1 }]);
    reader.answer = () => ok({ document: price() });
    expect(await decider.decide([BTC], START, CALLER)).toMatchObject([{ outcome: "OK" }]);
    expect(logs).toHaveLength(1);
  });

  test("of one request stands for another that was made at the same time", async () => {
    const { decider, kept, metrics } = open();
    const [one, other] = await Promise.all([ask(decider, START), ask(decider, START)]);
    expect([one, other]).toEqual([A_VALUE, one]);
    // The value that was not decided is neither kept nor counted.
    expect(kept.map(([{ value }]) => value.kind === "value" && BigInt(one) === value.value)).toEqual([true]);
    expect((await metrics.decisions.get()).values[0]?.value).toBe(1);
    expect(decider.notesOf(ETH, START)?.[0]?.value).toBe(String(BigInt(one)));
  });

  test("is not made while a source is at its rate limit, not even for the other data points", async () => {
    const { decider, reader, kept } = open();
    const SOL = dataPoint("SOL-USD");
    reader.answer = (url) =>
      url.endsWith("ETH-USD") ? ok({ document: price() }) : throttled("busy", url.endsWith("BTC-USD") ? 7 : 3);
    const deciding = decider.decide([ETH, BTC, SOL], START, CALLER);
    const busy = { status: 503, code: "source_busy", extras: { keys: [BTC.key.key, SOL.key.key] } };
    await expect(deciding).rejects.toMatchObject({ ...busy, headers: { "retry-after": "7" } });
    expect([kept, decider.notesOf(ETH, START)]).toEqual([[], undefined]);
  });
});

describe("the window of rounds", () => {
  test.each([
    [-6n, "round_too_old", 0],
    [-5n, A_VALUE, 1],
    [2n, A_VALUE, 1],
    [3n, "round_in_future", 0],
  ])("when a value is read reaches from 5 s behind the clock to 2 s ahead: %d is %s", async (by, answer, reads) => {
    const { decider, asked } = open();
    expect(await ask(decider, START + by)).toEqual(answer);
    expect(asked).toHaveLength(reads);
  });

  test.each([
    [12n, A_VALUE],
    [13n, "round_too_old"],
    [-2n, A_VALUE],
    [-3n, "round_in_future"],
  ])("when it is decided is 12 s long, and the clock may have been set: after %d s it is %s", async (by, answer) => {
    const { decider, clock, reader } = open();
    reader.answer = () => {
      clock.now += by;
      return ok({ document: price() });
    };
    expect(await ask(decider, START)).toEqual(answer);
  });

  test("opens only when the round begins: until then nothing is read", async () => {
    const { decider, clock, slept, kept } = open();
    await ask(decider, START + 2n);
    await ask(decider, START + 3n);
    clock.now += 1n;
    await ask(decider, START + 4n);
    expect(slept).toEqual([2_000, 1_000]);
    expect(kept.map(([{ at }, round]) => round - at)).toEqual([0n, 0n, 0n]);
  });

  test("is closed up to what an earlier process may have signed", async () => {
    const { decider, lease, asked } = open();
    lease.refusedThrough = START;
    expect(await ask(decider, START)).toBe("round_forgotten");
    expect(asked).toEqual([]);
    expect(await ask(decider, START + 1n)).toEqual(A_VALUE);
  });

  test("is closed up to what this process forgot, also with the clock set back", async () => {
    const { decider, clock } = open();
    expect(await ask(decider, START)).toEqual(A_VALUE);
    clock.now += 700n;
    expect(await ask(decider, clock.now)).toEqual(A_VALUE);
    clock.now = START;
    for (const round of [START, START - 3n]) expect(await ask(decider, round)).toBe("round_forgotten");
    expect(await ask(decider, START + 1n)).toEqual(A_VALUE);
  });
});

describe("the lease", () => {
  test("covers a round before the sources are asked", async () => {
    const { decider, lease, asked } = open();
    lease.permits = (round) => lease.covered.includes(round) && round !== START;
    lease.problem = "lost";
    expect(await ask(decider, START)).toBe("not_ready");
    expect([lease.covered, asked]).toEqual([[START], []]);
    expect(await ask(decider, START - 1n)).toEqual(A_VALUE);
  });

  test("is looked at again when the value was read", async () => {
    const { decider, lease, reader } = open();
    reader.answer = () => {
      lease.permits = () => false;
      return ok({ document: price() });
    };
    await expect(decider.decide([ETH], START, CALLER)).rejects.toMatchObject({
      code: "not_ready",
      detail: expect.stringContaining("cannot be written"),
    });
    lease.problem = "lost";
    await expect(decider.decide([ETH], START, CALLER)).rejects.toMatchObject({
      detail: expect.stringContaining("Another process"),
    });
  });
});

describe("a full memory", () => {
  test("refuses further rounds, and repeats those it has", async () => {
    const { decider, asked } = open({ capacity: 2 });
    const first = await ask(decider, START);
    await ask(decider, START - 1n);
    await expect(decider.decide([ETH], START - 2n, CALLER)).rejects.toMatchObject({
      code: "too_many_rounds",
      headers: { "retry-after": "600" },
    });
    expect(await ask(decider, START)).toBe(first);
    expect(asked).toHaveLength(2);
  });

  test("is found out also when others filled it while the value was read", async () => {
    const { decider } = open({ capacity: 1 });
    expect(await Promise.all([ask(decider, START), ask(decider, START - 1n)])).toEqual([A_VALUE, "too_many_rounds"]);
  });

  test("has a part for operators", async () => {
    const { decider } = open({ capacity: 2, hasReserve: true });
    await ask(decider, START);
    expect(await ask(decider, START - 1n)).toBe("too_many_rounds");
    expect(await ask(decider, START - 1n, ETH, { ...CALLER, mayUseReserve: true })).toEqual(A_VALUE);
  });
});

describe("readiness", () => {
  test("begins when the usual rounds, which are two seconds old, can be signed, and says until when not", async () => {
    const { decider, lease, clock } = open();
    lease.refusedThrough = START + 2n;
    const problem = await decider.unreadiness();
    expect(problem).toMatchObject({ status: 503, code: "not_ready", headers: { "retry-after": "5" } });
    expect(problem?.detail).toContain(`no new round up to ${START + 2n} (2027-01-15T08:00:02Z)`);
    clock.now += 4n;
    expect(await decider.unreadiness()).not.toBeNull();
    clock.now += 1n;
    expect(await decider.unreadiness()).toBeNull();
    expect(lease.covered).toEqual([]);
  });

  test("needs the lease, which is tried again", async () => {
    const { decider, lease } = open();
    lease.problem = "unwritable";
    expect((await decider.unreadiness())?.detail).toContain("Its lease cannot be written.");
    expect(lease.covered).toEqual([START]);
    lease.cover = async () => {
      lease.problem = null;
    };
    expect(await decider.unreadiness()).toBeNull();
  });
});

/** An event in a provider's history. Times are in seconds. */
type HistoryEvent =
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
async function play(history: readonly HistoryEvent[]): Promise<number> {
  const folder = join(mkdtempSync(join(tmpdir(), "history-")), "lease");
  let time = START;
  const leases: Lease[] = [];
  /** A provider's life: it starts, and forgets everything but its lease when it is killed. */
  const live = async () => {
    const now = () => time;
    const lease = new Lease(contextAt(now), { observe: () => {} }, folder);
    await lease.take();
    leases.push(lease);
    return open({ lease, now }).decider;
  };
  const told = new Map<string, string>();
  const lives = [await live()];
  cpSync(folder, `${folder}-backup`, { recursive: true });
  let asking: Promise<void>[] = [];
  let answers = 0;
  const askAll = async (age: number, pair: number) => {
    const point = [ETH, BTC][pair] ?? ETH;
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
  await Promise.all(leases.map((lease) => lease.close()));
  rmSync(join(folder, ".."), { recursive: true });
  return answers;
}

describe("whatever happens, no data point has two values at a round", () => {
  /** `npm run crash` plays many more histories, by `--mode long`. */
  const numRuns = process.env.MODE === "long" ? 200 : 5;
  test.each([
    ["with the clock set back and ahead, and the folder kept", CLOCK],
    ["with the folder removed, damaged or restored, and a clock that only goes on", FOLDER],
  ])("%s", async (_, change) => {
    const events = fc.oneof<fc.WeightedArbitrary<HistoryEvent>[]>(
      { weight: 8, arbitrary: ANY_EVENT },
      { weight: 1, arbitrary: change },
    );
    let answers = 0;
    const property = fc.asyncProperty(fc.array(events, { minLength: 30, maxLength: 50 }), async (history) => {
      answers += await play(history);
    });
    await fc.assert(property, { numRuns, seed: 1 });
    expect(answers).toBeGreaterThan(numRuns);
  });
});
