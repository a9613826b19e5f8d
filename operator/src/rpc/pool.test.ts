import { TRUSTED_CONNECTIONS } from "@dataset-oracle/service/trusted/connections";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { pino } from "pino";
import type { Counter } from "prom-client";
import { numberToHex } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import type { JsonRpc } from "./endpoint.js";
import { classifyNodeError, type ErrorMeaning } from "./node-errors.js";
import {
  afterFailure,
  type Health,
  isFromTheFuture,
  ofSubmission,
  type PoolSettings,
  RpcPool,
  readableEndpoints,
  UNCHECKED,
} from "./pool.js";
import { RpcError, type RpcErrorKind } from "./rpc-error.js";

/** Seconds since 1970. */
const NOW = 1_700_000_000;
const SETTINGS: PoolSettings = { rpcTimeoutMs: 1, rpcPollMs: 1, maxHeadLagBlocks: 3, maxHeadLagSeconds: 30 };
const METHOD = "eth_gasPrice";
const SUBMIT = "eth_sendRawTransaction";

/** What an endpoint says instead of a result. */
const failure = (meaning: ErrorMeaning, reason = meaning as string, retryAfterMs = 0) => {
  const kinds: Partial<Record<ErrorMeaning, RpcErrorKind>> = {
    timeout: "timeout",
    no_answer: "failed",
    throttled: "failed",
    behind: "failed",
  };
  const kind = kinds[meaning] ?? "refused";
  return new RpcError(kind, 42, METHOD, reason, null, meaning, retryAfterMs);
};
const DOWN = failure("no_answer", "HTTP 500");

let nowMs: number;
let random: number;
let log: Record<string, unknown>[];
let errors: object[];

beforeEach(() => {
  [nowMs, random, log, errors] = [NOW * 1000, 0, [], []];
});

/** An endpoint that answers as a test says. */
class Node implements JsonRpc {
  readonly asked: string[] = [];
  chainId = 42;
  head = 100;
  timestamp = NOW;
  /** The answer to all other calls. */
  answer: unknown = "0x1";
  /** The answer to every call; null where each has its own. */
  fault: Error | Promise<never> | null = null;

  constructor(change: Partial<Node> = {}) {
    Object.assign(this, change);
  }

  async request(method: string): Promise<unknown> {
    this.asked.push(method);
    const answer = this.fault ?? this.#answerTo(method);
    if (answer instanceof Error) throw answer;
    return answer;
  }

  #answerTo(method: string): unknown {
    if (method === "eth_chainId") return numberToHex(this.chainId);
    if (method !== "eth_getBlockByNumber") return this.answer;
    return { number: numberToHex(this.head), timestamp: numberToHex(this.timestamp) };
  }

  /** Whether it was asked for something else than its state since the last look. */
  wasAsked(): boolean {
    return this.asked.splice(0).some((method) => !["eth_chainId", "eth_getBlockByNumber"].includes(method));
  }
}

function poolOf(nodes: readonly Node[], settings: Partial<PoolSettings> = {}): RpcPool {
  return new RpcPool(
    42,
    nodes,
    {
      clock: clockOf(() => nowMs),
      random: () => random,
      logger: pino({ level: "info" }, { write: (line: string) => log.push(JSON.parse(line)) }),
      closing: new AbortController().signal,
      dispatcher: TRUSTED_CONNECTIONS,
      errors: { inc: (labels: object) => errors.push(labels) } as unknown as Counter<
        "network" | "endpoint" | "method" | "class"
      >,
    },
    { ...SETTINGS, ...settings },
  );
}

async function connect(...nodes: readonly Node[]): Promise<RpcPool> {
  const pool = poolOf(nodes);
  await pool.checkAll();
  for (const node of nodes) node.asked.length = 0;
  return pool;
}

const read = (pool: RpcPool) => pool.request(METHOD, []);
const messages = () => log.map(({ endpoint, msg }) => [endpoint, msg]);

let first: Node;
let second: Node;
let pool: RpcPool;
beforeEach(async () => {
  [first, second] = [new Node(), new Node({ answer: "0x2" })];
  pool = await connect(first, second);
});

describe("a read", () => {
  test("goes to the first endpoint only", async () => {
    expect(await read(pool)).toBe("0x1");
    expect([first.asked, second.asked]).toEqual([[METHOD], []]);
    expect(errors).toEqual([]);
  });

  // Which answers mean what: node-errors.test.ts.
  test.each<[ErrorMeaning, boolean]>([
    ["no_answer", false],
    ["throttled", false],
    ["timeout", false],
    ["behind", true],
    ["out_of_reach", true],
    ["not_offered", true],
    ["other", true],
  ])("goes to the second when the first fails by %s, and whether that stays ready is: %s", async (meaning, isReady) => {
    first.answer = failure(meaning);
    expect(await read(pool)).toBe("0x2");
    const without = meaning === "not_offered" ? [METHOD] : [];
    expect(pool.endpoints).toMatchObject([{ ready: isReady, without }, { ready: true }]);
    expect(errors).toEqual([{ network: 42, endpoint: "rpcUrls/0", method: METHOD, class: expect.any(String) }]);
    expect(log.some(({ msg }) => msg === "RPC endpoint failed")).toBe(!isReady);
  });

  test.each([
    ["ends in a revert, which is the chain's answer,", failure("reverted"), 1],
    ["ends in an invalid opcode, too,", failure("invalid_opcode"), 1],
    ["fails by a fault of this program, which does not count,", new TypeError("a fault"), 0],
  ])("that %s is not tried elsewhere", async (_, answer, counted) => {
    first.answer = answer;
    await expect(read(pool)).rejects.toBe(answer);
    expect([second.asked, errors.length]).toEqual([[], counted]);
  });

  test("goes first to others for ten minutes when an endpoint does not offer it, and to all when none does", async () => {
    const asked = () => [first, second].map((node) => node.wasAsked());
    const without = () => pool.endpoints.map((endpoint) => endpoint.without);
    first.answer = failure("not_offered");
    await read(pool);
    expect([asked(), without()]).toEqual([
      [true, true],
      [[METHOD], []],
    ]);
    await read(pool);
    expect(asked()).toEqual([false, true]);
    // Another kind of request is another matter.
    await pool.request("eth_call", [{}, "latest"]);
    expect(asked()).toEqual([true, true]);
    second.answer = failure("not_offered");
    await expect(read(pool)).rejects.toMatchObject({ kind: "refused", meaning: "not_offered" });
    expect(asked()).toEqual([true, true]);
    first.answer = "0x1";
    expect(await read(pool)).toBe("0x1");
    expect(without()).toEqual([["eth_call"], [METHOD]]);
    expect(log.filter(({ request }) => request === METHOD).map(({ endpoint, msg }) => [endpoint, msg])).toEqual([
      ["rpcUrls/0", "RPC endpoint does not offer this"],
      ["rpcUrls/1", "RPC endpoint does not offer this"],
      ["rpcUrls/0", "RPC endpoint answers such requests again"],
    ]);
  });

  test("goes to an endpoint again ten minutes after it did not offer it", async () => {
    first.answer = failure("not_offered");
    await read(pool);
    for (const [ms, isAsked] of [
      [599_999, false],
      [1, true],
    ] as const) {
      nowMs += ms;
      first.wasAsked();
      await read(pool);
      expect(first.wasAsked()).toBe(isAsked);
    }
  });

  test.each([
    ["no contract", "0x"],
    ["no such block or transaction", null],
  ])("goes to the second when the first has %s there, because it may lag, unless all say so", async (_, nothing) => {
    first.answer = nothing;
    expect(await read(pool)).toBe("0x2");
    second.answer = failure("behind");
    expect(await read(pool)).toBe(nothing);
  });

  test.each<[string, RpcError, RpcError, "first" | "second"]>([
    ["what is not offered, because there may be another way", failure("other"), failure("not_offered"), "second"],
    ["what one refuses", failure("other"), failure("behind"), "first"],
    ["the last, of two that are alike", failure("behind"), failure("behind"), "second"],
  ])("that all fail is answered with %s", async (_, one, two, expected) => {
    Object.assign(first, { answer: one });
    Object.assign(second, { answer: two });
    await expect(read(pool)).rejects.toBe(expected === "first" ? one : two);
    expect(pool.isReady).toBe(true);
  });

  test("does not go to an endpoint that is behind, until it has caught up", async () => {
    first.head = 96;
    await pool.checkDue();
    expect(await read(pool)).toBe("0x2");
    first.head = 100;
    await pool.checkDue();
    expect(await read(pool)).toBe("0x1");
    expect(pool.endpoints).toMatchObject([{ block: 100 }, { block: 100 }]);
  });

  test("does not go to an endpoint whose head is from the future, whatever its number", async () => {
    Object.assign(first, { head: 1_000_000, timestamp: NOW + 3_600 });
    await pool.checkDue();
    expect(await read(pool)).toBe("0x2");
    expect(log).toMatchObject([{ endpoint: "rpcUrls/0", reason: expect.stringContaining("60 s ahead") }]);
  });

  test("is answered where one of two endpoints is behind by its number, and the other by its time", async () => {
    Object.assign(first, { head: 104, timestamp: NOW - 31 });
    await pool.checkDue();
    expect(await read(pool)).toBe("0x1");
    first.answer = failure("other");
    expect(await read(pool)).toBe("0x2");
  });

  test.each([
    [11, 0],
    [0, 31],
    [11, -31],
  ])("goes to the honest two where a third is %i blocks and %i s ahead", async (blocks, seconds) => {
    const bad = new Node({ answer: "a lie", head: 100 + blocks, timestamp: NOW + seconds });
    expect(await read(await connect(bad, first, second))).toBe("0x1");
  });

  test("goes to those in quarantine once the last endpoint that was ready has failed", async () => {
    first.answer = DOWN;
    expect(await read(pool)).toBe("0x2");
    [first.answer, second.answer] = ["0x1", DOWN];
    expect(pool.endpoints).toMatchObject([{ ready: false }, { ready: true }]);
    expect(await read(pool)).toBe("0x1");
    [first.answer, second.answer] = [DOWN, "0x2"];
    expect(await read(pool)).toBe("0x2");
  });

  test("fails without a check once no endpoint has answered it", async () => {
    for (const node of [first, second]) node.answer = DOWN;
    await expect(read(pool)).rejects.toBe(DOWN);
    expect([first.asked, second.asked]).toEqual([[METHOD], [METHOD]]);
  });

  test("fails once no endpoint is left, and succeeds at once when one is back, though both are in quarantine", async () => {
    for (const node of [first, second]) node.fault = DOWN;
    const error = await read(pool).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: "failed", message: "The RPC of network 42 failed." });
    expect(pool.isReady).toBe(false);
    second.fault = null;
    expect(await read(pool)).toBe("0x2");
    expect(pool.isReady).toBe(true);
  });
});

describe("an endpoint that failed", () => {
  /** Whether the first endpoint is checked after this time. */
  const isCheckedAfter = async (ms: number) => {
    nowMs += ms;
    first.asked.length = 0;
    await pool.checkDue();
    return first.asked.length > 0;
  };
  const fail = (reason: Error = DOWN) => {
    first.answer = reason;
    return read(pool);
  };

  test("is not used in quarantine, and must answer its chain id and its head afterwards", async () => {
    await fail();
    first.answer = "0x1";
    expect(await isCheckedAfter(999)).toBe(false);
    expect([await read(pool), first.asked]).toEqual(["0x2", []]);
    expect(await isCheckedAfter(1)).toBe(true);
    expect(first.asked).toEqual(["eth_chainId", "eth_getBlockByNumber"]);
    expect(await read(pool)).toBe("0x1");
    expect(messages()).toEqual([
      ["rpcUrls/0", "RPC endpoint failed"],
      ["rpcUrls/0", "RPC endpoint is back"],
    ]);
  });

  test("is not used for as long as it asks", async () => {
    await fail(failure("no_answer", "HTTP 429", 30_000));
    expect(log).toMatchObject([{ endpoint: "rpcUrls/0", reason: `${METHOD}: HTTP 429`, quarantinedMs: 30_000 }]);
    expect(await isCheckedAfter(29_999)).toBe(false);
  });

  test("waits up to half as long, so that those who failed together do not come back together", async () => {
    random = 0.5;
    await fail();
    expect([await isCheckedAfter(749), await isCheckedAfter(1)]).toEqual([false, true]);
  });

  test("is logged once, whatever is asked, until another reason or its return", async () => {
    first.fault = DOWN;
    for (let check = 0; check < 5; check++) {
      nowMs += 60_000;
      for (const node of [first, second]) node.timestamp += 60;
      await pool.checkDue();
    }
    expect(messages()).toEqual([["rpcUrls/0", "RPC endpoint failed"]]);
    first.fault = failure("no_answer", "HTTP 502");
    await isCheckedAfter(60_000);
    expect(messages()).toHaveLength(2);
  });

  test("waits twice as long after each failure, and calls that fail together count as one", async () => {
    // It answers each check, which is no proof that it answers calls.
    await Promise.all([fail(), fail()]);
    expect(await isCheckedAfter(1_000)).toBe(true);
    await fail();
    expect([await isCheckedAfter(1_999), await isCheckedAfter(1)]).toEqual([false, true]);
  });

  test.each([
    ["a call that it answers", "0x1", 1_000],
    ["the chain's own answer", failure("reverted"), 1_000],
    ["nothing else", failure("behind"), 2_000],
  ])("is made as good as new by %s", async (_, answer, quarantinedMs) => {
    await fail();
    await isCheckedAfter(1_000);
    first.answer = answer;
    await read(pool).catch(() => {});
    await fail();
    expect(log.at(-1)).toMatchObject({ quarantinedMs });
  });

  test("is forgiven one failure by each check that it passes while it is ready", async () => {
    await fail();
    for (const ms of [1_000, 0]) await isCheckedAfter(ms);
    await fail();
    expect(await isCheckedAfter(1_000)).toBe(true);
  });

  test.each([
    ["when it comes back", 1_000, true],
    ["within a minute of answering for another chain", 60_000, false],
  ])("is not used with another chain id, noticed %s", async (_, passMs, hasFailed) => {
    if (hasFailed) await fail();
    Object.assign(first, { answer: "0x1", chainId: 43 });
    await isCheckedAfter(passMs - 1);
    expect(pool.foreign).toBeNull();
    await isCheckedAfter(1);
    first.wasAsked();
    expect(await read(pool)).toBe("0x2");
    expect(first.wasAsked()).toBe(false);
    expect(pool.foreign?.message).toContain("rpcUrls/0 belongs to network 43, but rpcUrls/1 to network 42");
    expect(String(log.at(-1)?.reason)).toContain("belongs to network 43");
  });

  test("offers everything again, as far as is known, once it is back", async () => {
    await fail(failure("not_offered"));
    first.fault = DOWN;
    await pool.checkDue();
    Object.assign(first, { fault: null, answer: "0x1" });
    await isCheckedAfter(1_000);
    expect(pool.endpoints[0]).toEqual({ endpoint: "rpcUrls/0", ready: true, block: 100, without: [] });
    expect(await read(pool)).toBe("0x1");
  });
});

test("a call at every endpoint gives the answers of those that answer", async () => {
  const third = new Node({ answer: failure("timeout") });
  pool = await connect(first, second, third);
  expect(await pool.requestEach(METHOD, [])).toEqual(["0x1", "0x2"]);
  for (const node of [first, second]) node.answer = DOWN;
  await expect(pool.requestEach(METHOD, [])).rejects.toBe(DOWN);
});

describe("the start", () => {
  test("does not need every endpoint, and without any the calls fail until one answers", async () => {
    first.fault = DOWN;
    expect(await read(await connect(first, second))).toBe("0x2");
    const without = await connect(first);
    expect([without.isReady, without.endpoints]).toMatchObject([false, [{ ready: false, block: 0 }]]);
    await expect(read(without)).rejects.toBe(DOWN);
    await expect(without.requestEach(METHOD, [])).rejects.toBe(DOWN);
    first.fault = null;
    expect(await read(without)).toBe("0x1");
    first.answer = failure("behind");
    await expect(read(without)).rejects.toBe(first.answer);
  });

  const FILE = { deployment: "42.json" };
  test.each([
    [[42, 43], {}, "rpcUrls/1 belongs to network 43, but rpcUrls/0 to network 42. Correct rpcUrls."],
    [[43, 42], {}, "rpcUrls/0 belongs to network 43, but rpcUrls/1 to network 42. Correct rpcUrls."],
    [[43], { networkId: 42 }, "rpcUrls/0 belongs to network 43. Correct rpcUrls or networkId."],
    [[42, 43], FILE, "rpcUrls/1 belongs to network 43. Correct it, or set deployment to the file of network 43."],
  ])(
    "fails when the endpoints serve the chains %s, with %j, and says what to correct",
    async (chains, settings, fault) => {
      const nodes = chains.map((chainId) => new Node({ chainId }));
      await expect(poolOf(nodes, settings).checkAll()).rejects.toThrow(`network 42: ${fault}`);
    },
  );
});

describe("a transaction", () => {
  const send = () => pool.request(SUBMIT, ["0x01"]);
  const refusal = (message: string) => failure(classifyNodeError(message), message);

  test("goes to all endpoints that are ready, including those that are behind, and needs one that accepts it", async () => {
    const nodes = [
      new Node({ answer: refusal("nonce too low") }),
      new Node({ answer: "0xabc" }),
      new Node({ answer: refusal("underpriced"), head: 0 }),
      new Node({ fault: DOWN }),
    ];
    pool = await connect(...nodes);
    expect(await send()).toBe("0xabc");
    expect(nodes.map(({ asked }) => asked)).toEqual([[SUBMIT], [SUBMIT], [SUBMIT], []]);
  });

  test("goes to those in quarantine where none that was ready has accepted or refused it", async () => {
    first.answer = DOWN;
    await read(pool);
    [first.answer, second.answer] = ["0xabc", DOWN];
    expect(await send()).toBe("0xabc");
  });

  test("is answered by the fastest endpoint", async () => {
    first.fault = new Promise<never>(() => {});
    expect(await send()).toBe("0x2");
  });

  test.each<[string, Error[], number]>([
    ["the reason that says more", [refusal("underpriced"), refusal("nonce too low")], 1],
    ["the minimum that it names", [refusal("underpriced"), refusal("underpriced: minimum needed 2")], 1],
    [
      "that the account is empty",
      [failure("not_offered", "the method is not there"), refusal("insufficient funds")],
      1,
    ],
    ["that one has it already, whatever another says", [refusal("already known"), failure("timeout")], 0],
    ["that one has it already, whatever fault there is", [new TypeError("a fault"), refusal("already known")], 1],
    ["that the only one did not answer", [DOWN], 0],
    ["that one did not answer, and may have it", [refusal("nonce too low"), failure("timeout")], 1],
    ["that one failed, and may have it", [DOWN, refusal("nonce too low")], 0],
  ])("that no endpoint accepts is answered with %s", async (_, answers, expected) => {
    pool = await connect(...answers.map((answer) => new Node({ answer })));
    await expect(send()).rejects.toBe(answers[expected]);
    expect(ofSubmission(answers.toReversed())).toBe(answers[expected]);
  });
});

describe("the state of an endpoint", () => {
  const at = (number: number, timestamp = 1_000): Health => ({ ...UNCHECKED, head: { number, timestamp } });
  const quarantined = (health: Health) => afterFailure(health, 0, () => 0);

  test("a quarantine doubles with each failure in a row, from a second to a minute, or is as long as is asked for", () => {
    const lengths: number[] = [];
    const fail = (health: Health, now: number, leastMs = 0) => afterFailure(health, now, () => 0, leastMs);
    for (let health = UNCHECKED, i = 0; i < 40; i++) {
      health = fail(health, 5_000);
      lengths.push(health.quarantinedUntil - 5_000);
    }
    expect(lengths.slice(0, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(lengths.at(-1)).toBe(60_000);
    expect(fail(UNCHECKED, 0, 45_000).quarantinedUntil).toBe(45_000);
    expect(fail(UNCHECKED, 0, 900_000).quarantinedUntil).toBe(60_000);
    expect(fail(fail(at(7), 5_000), 6_000)).toMatchObject({ head: null, failures: 2 });
  });

  test.each<[string, Health[], number[]]>([
    ["none", [], []],
    ["none that was never checked", [UNCHECKED, UNCHECKED], []],
    ["the only one, whatever its head", [at(0, 0)], [0]],
    ["all, in the order of the configuration", [at(5), at(7), at(6)], [0, 1, 2]],
    ["one of two that is as far behind as allowed, in its place", [at(4), at(7)], [0, 1]],
    ["one of two that is one block more behind, last", [at(3), at(7)], [1, 0]],
    ["one of two whose time is as far behind as allowed", [at(7, 970), at(7, 1_000)], [0, 1]],
    ["one of two whose time is one second more behind, last", [at(7, 969), at(7, 1_000)], [1, 0]],
    ["two of which each is behind the other, as configured", [at(11, 969), at(0, 1_000)], [0, 1]],
    ["none of three that is behind the median", [at(3), at(7), at(7)], [1, 2]],
    ["none of three whose time is behind the median", [at(7, 969), at(7), at(7)], [1, 2]],
    ["one of three that is ahead, last", [at(11), at(7), at(7)], [1, 2, 0]],
    ["one of three whose time is ahead, last", [at(7, 1_031), at(7), at(7)], [1, 2, 0]],
    ["none of three that is ahead and behind", [at(18, 969), at(7), at(7)], [1, 2]],
    ["the lower half of four, and then those that are ahead of it", [at(11), at(11), at(7), at(7)], [2, 3, 0, 1]],
    ["none in quarantine", [quarantined(at(7)), at(7)], [1]],
    ["one that is behind those in quarantine only", [quarantined(at(99)), at(7)], [1]],
  ])("reads go to %s", (_, healths, indices) => {
    const endpoints = healths.map((health, index) => ({ health, index }));
    expect(readableEndpoints(endpoints, SETTINGS).map(({ index }) => index)).toEqual(indices);
  });

  test("a head may be a minute ahead of the clock, and no more", () => {
    expect(isFromTheFuture({ number: 1, timestamp: 1_060 }, 1_000_000)).toBe(false);
    expect(isFromTheFuture({ number: 1, timestamp: 1_061 }, 1_000_000)).toBe(true);
  });
});
