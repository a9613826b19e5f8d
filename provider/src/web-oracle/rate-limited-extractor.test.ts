import type { RequestSpec } from "@dataset-oracle/protocol/request-spec";
import { err, ok } from "@dataset-oracle/protocol/result";
import { describe, expect, test } from "vitest";
import { MAX_KEY_STEPS, MAX_KEY_TEXT } from "./extract-values.js";
import type { ExtractionPool, PoolFailure } from "./extraction-pool.js";
import { ANONYMOUS_WORK, RateLimitedExtractor, SPEC_WORK } from "./rate-limited-extractor.js";

const MOST = MAX_KEY_TEXT + MAX_KEY_STEPS;
const SPEC: RequestSpec = { title: "a", variables: [], sources: [], minSources: 1, combine: "median" };
const key = (specHash: `0x${string}` = "0x01") => ({ specHash, args: [], compiled: { spec: SPEC } });
const mallory = { id: "203.0.113.1", mayUseReserve: false };
const alice = { id: "203.0.113.2", mayUseReserve: false };
const operator = { id: "198.51.100.7", mayUseReserve: true };

/** Makes an extractor each of whose jobs is as much work as a key may cause, or fails. */
function open({ hasReserve = false, fails = null as PoolFailure | null } = {}) {
  const clock = { now: 0, jobs: 0 };
  const run: ExtractionPool["run"] = async () => {
    clock.jobs += 1;
    return fails === null ? ok({ readings: [], work: MOST }) : err(fails);
  };
  return { clock, extractor: new RateLimitedExtractor({ run }, { monotonic: () => clock.now }, hasReserve) };
}

/** Asks for different specs until the caller is refused. */
async function exhaust(extractor: RateLimitedExtractor): Promise<number> {
  for (let count = 0; ; ++count) {
    const extracted = await extractor.extract(key(`0x${count + 10}`), [], mallory);
    if (!extracted.ok) return count;
  }
}

describe("a caller's allowance", () => {
  test("is spent by the bytes that are received for it, and bounds them", async () => {
    const { extractor } = open();
    const spend = extractor.chargesTo(mallory).spend;
    let received = 0;
    while (spend(65_536)) received += 65_536;
    expect(received).toBeGreaterThanOrEqual(ANONYMOUS_WORK.burst - 65_536);
    expect(received).toBeLessThan(ANONYMOUS_WORK.burst + 65_536);
    expect(extractor.waitMs(key(), mallory)).toBeGreaterThan(0);
    expect(await extractor.extract(key(), [], mallory)).toMatchObject({ ok: false });
    expect(extractor.chargesTo(alice).spend(65_536)).toBe(true);
  });

  test("is used up by its own work only, and comes back with time", async () => {
    const { extractor, clock } = open();
    expect(await exhaust(extractor)).toBe(Math.ceil(ANONYMOUS_WORK.burst / MOST));
    const jobs = clock.jobs;
    expect(await extractor.extract(key(), [], mallory)).toMatchObject({ ok: false });
    expect(clock.jobs).toBe(jobs);
    expect((await extractor.extract(key(), [], alice)).ok).toBe(true);
    clock.now += extractor.waitMs(key(), mallory);
    expect((await extractor.extract(key(), [], mallory)).ok).toBe(true);
  });

  test("is used up at once by work that ended its worker, and not by a full pool", async () => {
    for (const [fails, most] of [
      ["failed", 2],
      ["full", 1_000],
    ] as const) {
      const { extractor, clock } = open({ fails });
      for (let count = 0; count < 1_000; ++count) await extractor.extract(key(`0x${count + 10}`), [], mallory);
      expect(clock.jobs).toBe(most);
    }
  });
});

test("half of a spec's allowance is left to operators, whatever anonymous callers ask", async () => {
  const { extractor } = open({ hasReserve: true });
  const ask = (id: number) => extractor.extract(key(), [], { id: `203.0.113.${id}`, mayUseReserve: false });
  let count = 0;
  while ((await ask(count)).ok) count += 1;
  expect(count).toBe(Math.ceil(SPEC_WORK.burst / 2 / MOST));
  expect((await extractor.extract(key(), [], operator)).ok).toBe(true);
  expect((await extractor.extract(key("0x02"), [], mallory)).ok).toBe(true);
});
