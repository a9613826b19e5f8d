import { expect, test } from "vitest";
import { type ChaosResult, runChaos } from "./chaos/chaos-run.js";
import { FAULTS } from "./chaos/fault-injector.js";

/**
 * `npm run chaos` runs the long form by `--mode long`, and the variables adjust it. The seed decides what fails, and
 * when.
 */
const isLongMode = process.env.MODE === "long";
const settings = {
  seed: Number(process.env.CHAOS_SEED ?? 1),
  requests: Number(process.env.CHAOS_REQUESTS ?? (isLongMode ? 10_000 : 120)),
  keys: Number(process.env.CHAOS_KEYS ?? (isLongMode ? 200 : 40)),
  onProgress: (answered: number) => console.log(`${answered} requests answered`),
};

const isLong = settings.requests >= 10_000;

test("no update is lost, no nonce gap remains and no timestamp goes back under faults of operators, networks, the chain and processes", {
  timeout: 240_000 + settings.requests * 500,
}, async () => {
  const { seed, requests, keys } = settings;
  const result = await runChaos(settings);
  console.log(describeResult(`${requests} requests on ${keys} keys, seed ${seed}`, result));
  expect(result.lost).toEqual([]);
  for (const { latest, pending, queued } of result.nonces) expect([pending - latest, queued]).toEqual([0, 0]);
  expect(result.wentBack).toEqual([]);
  expect(result.staleFeeds).toEqual([]);
  expect(result.memory.peak).toBeLessThan(400);
  // A process that has run only briefly is still growing to its steady size.
  expect(result.memory.finalMedian).toBeLessThan(result.memory.midRunMedian * (isLong ? 1.15 : 1.5));
  expect(result.answers.sent).toBeGreaterThan(requests / 8);
  for (const fault of FAULTS) expect(result.faults[fault] ?? 0, fault).toBeGreaterThanOrEqual(1);
  if (isLong) for (const [kind, count] of Object.entries(result.faults)) expect(count, kind).toBeGreaterThanOrEqual(50);
});

/** Formats a result for the console. */
function describeResult(title: string, result: ChaosResult): string {
  const { faults, answers, lost, forgotten, nonces, staleFeeds, memory, seconds } = result;
  const tally = (of: Readonly<Record<string, number>>) =>
    Object.entries(of)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`);
  const senders = nonces.map(({ latest, pending, queued }) => `${latest} mined, ${pending - latest + queued} left`);
  return [
    `${title}, ${seconds} s.`,
    "Faults survived:",
    ...tally(faults),
    "Answers:",
    ...tally(answers),
    `Lost: ${lost.length}. Dropped by the chain after their process had ended: ${forgotten}.`,
    `Transactions by sender: ${senders.join("; ")}.`,
    `Feeds that are too old: ${staleFeeds.length}.`,
    `Memory: ${memory.peak} MB at most; ${memory.midRunMedian} MB in the middle of the last processes' lives, ${memory.finalMedian} MB at their end.`,
  ].join("\n");
}
