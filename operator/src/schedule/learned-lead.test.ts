import fc from "fast-check";
import { type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { LearnedLead } from "./learned-lead.js";
import { Ranking } from "./rank.js";
import { INITIAL_STATE, type ScheduleState, step } from "./transmission-schedule.js";

const KEY: Hex = numberToHex(1, { size: 32 });
const PROVIDER_TIMEOUT_MS = 3_000;
const START_MS = 1_767_323_040_000;

test("the lead is the longest of the latest 32 updates, a block and a second; before the first, a provider's deadline", () => {
  const lead = new LearnedLead();
  expect(lead.seconds(PROVIDER_TIMEOUT_MS, 15_000)).toBe(3 + 15 + 1);
  lead.record(9_000);
  expect(lead.seconds(PROVIDER_TIMEOUT_MS, 2_000)).toBe(9 + 2 + 1);
  for (let update = 0; update < 31; update++) lead.record(500);
  expect(lead.seconds(PROVIDER_TIMEOUT_MS, 2_000)).toBe(12);
  lead.record(500);
  expect(lead.seconds(PROVIDER_TIMEOUT_MS, 2_000)).toBe(0.5 + 2 + 1);
});

/** Keeps one key fresh, and returns the age of each stored value, by the blocks' times, when it was replaced. */
function agesOf(heartbeatSeconds: number, blockMs: number, gatherMs: number, phaseMs: number): number[] {
  const ranking = new Ranking(numberToHex(1, { size: 20 }), []);
  const settings = { ranking, role: "alone" as const, beatSeconds: 5, stageMs: 1 };
  const keys = [{ key: KEY, policy: { heartbeatSeconds, deviationBps: 1_000_000, minIntervalSeconds: 5 } }];
  const lead = new LearnedLead();
  let state: ScheduleState = INITIAL_STATE;
  let stored = 0n;
  const ages: number[] = [];
  const blockAfter = (ms: number) => Math.ceil((ms - phaseMs) / blockMs) * blockMs + phaseMs;
  const take = (nowMs: number, gathered: Parameters<typeof step>[3]["gathered"] = null) => {
    const chain = { blockNumber: BigInt(Math.floor(nowMs / blockMs)), storedRounds: new Map([[KEY, stored]]) };
    const taken = step(settings, keys, state, {
      nowMs,
      monotonicMs: nowMs,
      chain,
      gathered,
      underway: new Set<Hex>(),
      held: new Map(),
      learnedLeadSeconds: lead.seconds(PROVIDER_TIMEOUT_MS, blockMs),
    });
    state = taken.state;
    return taken;
  };
  let next = take(START_MS);
  for (let nowMs = START_MS; nowMs < START_MS + heartbeatSeconds * 12_000; ) {
    const [gather] = next.gather;
    nowMs = gather === undefined ? next.wakeAtMs : nowMs + gatherMs;
    const results = new Map([[KEY, { arrived: new Set<Hex>(), hasMoved: false }]]);
    next = take(nowMs, gather === undefined ? null : { gather, results });
    const [sent] = next.send;
    if (sent === undefined) continue;
    // The update is built of reports that are gathered once more.
    const minedAtMs = blockAfter(nowMs + gatherMs);
    if (stored > 0n) ages.push(minedAtMs / 1000 - Number(stored));
    lead.record(minedAtMs - nowMs);
    stored = sent.round;
    nowMs = minedAtMs;
    next = take(nowMs);
  }
  return ages;
}

test("a value that one operator keeps fresh is never older than its heartbeat, nor replaced before half of it", () => {
  const cases = fc.record({
    heartbeat: fc.integer({ min: 45, max: 120 }),
    blockMs: fc.integer({ min: 1, max: 12 }).map((seconds) => seconds * 1_000),
    gatherMs: fc.integer({ min: 0, max: 1_000 }),
    phaseMs: fc.integer({ min: 0, max: 11_999 }),
  });
  fc.assert(
    fc.property(cases, ({ heartbeat, blockMs, gatherMs, phaseMs }) => {
      const ages = agesOf(heartbeat, blockMs, gatherMs, phaseMs);
      expect(ages.length).toBeGreaterThanOrEqual(10);
      expect(Math.max(...ages)).toBeLessThanOrEqual(heartbeat);
      expect(Math.min(...ages)).toBeGreaterThanOrEqual(heartbeat / 2);
    }),
    { numRuns: 40 },
  );
});
