import { setTimeOfDay } from "@dataset-oracle/tools/set-time-of-day";
import { type Address, parseEther, stringToHex } from "viem";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MAX_QUEUE_MS } from "../src/transactions/queue.js";
import { startCommittee, WAIT } from "./support/committee.js";
import { nextRound } from "./support/next-round.js";
import type { OperatorOptions, RunningOperator } from "./support/operator.js";
import { startRpcProxy } from "./support/rpc-proxy.js";

/**
 * An operator on a machine whose time of day is set an hour forth and back. What lasts for a while lasts as long, and once
 * the time of day is right, everything goes on.
 */

const HOUR_MS = 3_600_000;
const KEY = "SPOTPX/ETH-USD";

const { chain, providers, members, body, start } = await startCommittee(4);
/** How much time has passed for the operator beside the real time. */
let passedMs = 0;
const clock = { now: () => Date.now(), monotonic: () => performance.now() + passedMs };
let operator: RunningOperator;

beforeEach(() => {
  passedMs = 0;
  for (const provider of providers) Object.assign(provider, { behavior: "right clock", value: parseEther("2000") });
});

afterEach(async () => {
  vi.unstubAllGlobals();
  await operator.close();
  await chain.client.setIntervalMining({ interval: 1 });
});

const startHere = async (
  settings: Parameters<typeof start>[0] = {},
  options: OperatorOptions = {},
  more: Parameters<typeof start>[2] = {},
) => {
  operator = await start(settings, { clock, plugins: [], ...options }, more);
};
const saysSince = (lines: number, words: string) => operator.log.slice(lines).some((line) => line.includes(words));
/** What an operator says whose clock is behind: nothing that its endpoints show is believed. */
const CHAIN_IS_AHEAD = "ahead of this machine's clock";

test.each(["alone", "in turns"])("feeds, %s, are fresh again once the time of day is right", async (turns) => {
  const dataset = await chain.deploy(members);
  const feed = { dataset, keys: [KEY], heartbeatSeconds: 31_536_000, deviationBps: 100, minIntervalSeconds: 1 };
  const sender = turns === "alone" ? "alone" : (members[0] as Address);
  const settings = { feeds: [feed], feedPollMs: 300, beatSeconds: 1, stageMs: 500, sender };
  const proxy = await startRpcProxy(chain.url);
  await startHere(settings, { plugins: ["feeds"] }, { datasets: [dataset], rpcUrls: [proxy.url] });
  const stored = async () => (await chain.query(dataset, KEY)).value;
  await expect.poll(stored).toBe(parseEther("2000"));
  /** Sets the time of day, until something goes wrong for that, and right again. */
  const setUntil = async (aheadMs: number, price: string, words: string, meanwhile: () => unknown = () => {}) => {
    const before = operator.log.length;
    setTimeOfDay(aheadMs);
    for (const provider of providers) provider.value = parseEther(price);
    await expect.poll(() => saysSince(before, words)).toBe(true);
    await meanwhile();
    setTimeOfDay(0);
    proxy.faults.clear();
    await expect.poll(stored).toBe(parseEther(price));
  };
  await setUntil(-HOUR_MS, "2100", CHAIN_IS_AHEAD);
  await setUntil(HOUR_MS, "2200", "feed: ", async () => {
    // Whatever else fails meanwhile must not be left alone for an hour.
    const before = operator.log.length;
    proxy.faults.set("*", "HTTP 500");
    await expect.poll(() => saysSince(before, '"dependency":"chain"')).toBe(true);
  });
});

test.each([HOUR_MS, -HOUR_MS])(
  "requests are answered once the time of day is right that was %d ms ahead",
  async (ms) => {
    await startHere();
    await operator.ask(body(KEY), WAIT);
    setTimeOfDay(ms);
    for (const broadcast of [true, false]) {
      expect(await operator.askForProblem(body(KEY, broadcast))).toMatchObject({
        code: expect.stringMatching(/^(no_quorum|rpc_failed)$/),
      });
    }
    await expect.poll(() => ms > 0 || saysSince(0, CHAIN_IS_AHEAD)).toBe(true);
    setTimeOfDay(0);
    expect(await operator.ask(body(KEY, false))).toHaveProperty("transaction");
    await operator.ask(body(KEY), WAIT);
  },
);

test("a request is answered during which the time of day is set", async () => {
  await startHere();
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  for (const provider of providers) Object.assign(provider, { behavior: "slow", delay: () => released });
  const answer = operator.ask(body("SPOTPX/SLOW-USD"));
  await expect
    .poll(() => providers.every(({ asked }) => asked.some(({ key }) => key === stringToHex("SPOTPX/SLOW-USD"))))
    .toBe(true);
  setTimeOfDay(HOUR_MS);
  release();
  expect(await answer).toHaveProperty("transaction_hash");
});

test("the windows of rate limits are as long as ever", async () => {
  await startHere({}, { requestsPerMinute: 2 });
  setTimeOfDay(HOUR_MS);
  const get = () => fetch(`${operator.base}/datasets`);
  expect([(await get()).status, (await get()).status]).toEqual([200, 200]);
  for (const aheadMs of [HOUR_MS, 0, -HOUR_MS, 0]) {
    setTimeOfDay(aheadMs);
    const { status, headers } = await get();
    expect(status).toBe(429);
    expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
  }
  passedMs += 60_000;
  expect((await get()).status).toBe(200);
});

test("the window of a gas budget is as long as ever", async () => {
  await startHere({ gasPerHour: 100_000, gasPerHourForNewKeys: 1_000_000 });
  for (let i = 0; i < 2; i++) {
    await operator.ask(body("SPOTPX/GAS-USD"), WAIT);
    await nextRound();
  }
  for (const aheadMs of [HOUR_MS, 0]) {
    setTimeOfDay(aheadMs);
    const problem = await operator.askForProblem(body("SPOTPX/GAS-USD"));
    expect(problem).toMatchObject({ http: 429, code: "gas_budget_spent" });
    expect(Number(problem.headers.get("retry-after"))).toBeLessThanOrEqual(3_600);
  }
  passedMs += HOUR_MS;
  await operator.ask(body("SPOTPX/GAS-USD"), WAIT);
});

test("an endpoint whose quarantine began while the time of day was ahead comes back", async () => {
  const proxy = await startRpcProxy(chain.url);
  await startHere({ rpcTimeoutMs: 30_000 }, {}, { rpcUrls: [chain.url, proxy.url] });
  const areReady = async () => {
    const response = await fetch(`${operator.base}/ready`);
    const { networks } = (await response.json()) as { networks: { endpoints: { ready: boolean }[] }[] };
    return networks[0]?.endpoints.map(({ ready }) => ready);
  };
  setTimeOfDay(HOUR_MS);
  proxy.faults.set("*", "HTTP 500");
  await expect.poll(areReady).toEqual([true, false]);
  setTimeOfDay(0);
  proxy.faults.clear();
  passedMs += 60_000;
  await expect.poll(areReady).toEqual([true, true]);
});

describe("in a transaction queue", () => {
  /** Starts an operator whose transactions wait, and returns how to let some passes of its queue go by. */
  async function startStuck(settings: Parameters<typeof start>[0]) {
    const proxy = await startRpcProxy(chain.url);
    await startHere(settings, {}, { rpcUrls: [proxy.url] });
    await chain.client.setIntervalMining({ interval: 0 });
    return async () => {
      const counted = () => proxy.calls.filter(({ method }) => method === "eth_getTransactionCount").length;
      const before = counted();
      await expect.poll(counted).toBeGreaterThan(before + 4);
    };
  }

  test("a pending transaction is replaced once it is stuck, not before, and is stored", async () => {
    const pass = await startStuck({ stuckSeconds: 300 });
    const { transaction_hash } = await operator.ask(body("SPOTPX/STUCK-USD"));
    for (const aheadMs of [HOUR_MS, 0]) {
      setTimeOfDay(aheadMs);
      await pass();
      expect(saysSince(0, '"replaced"')).toBe(false);
    }
    passedMs += 300_000;
    await expect.poll(() => saysSince(0, '"replaced"')).toBe(true);
    await chain.client.mine({ blocks: 1 });
    await expect
      .poll(async () => (await chain.updates(body("").dataset)).at(-1))
      .toMatchObject({
        transactionHash: expect.not.stringContaining(transaction_hash as string),
      });
  });

  test("an update waits for a nonce as long as ever", async () => {
    const pass = await startStuck({ stuckSeconds: 300, maxPendingPerSender: 1 });
    await operator.ask(body("SPOTPX/FIRST-USD"));
    const second = operator.askForProblem(body("SPOTPX/SECOND-USD"));
    const waiting = () => [...operator.networks.values()][0]?.senders.queues[0]?.depth.waiting;
    await expect.poll(waiting).toBe(1);
    for (const aheadMs of [HOUR_MS, 0]) {
      setTimeOfDay(aheadMs);
      await pass();
      expect(waiting()).toBe(1);
    }
    passedMs += MAX_QUEUE_MS;
    expect(await second).toMatchObject({ http: 503, code: "queue_full" });
  });
});
