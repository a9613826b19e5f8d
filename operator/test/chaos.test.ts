import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { describeStorm, runStorm } from "./chaos/storm.js";

/** `npm run chaos` sets these; without them it is the short form. */
const settings = {
  seed: Number(process.env.CHAOS_SEED ?? 1),
  requests: Number(process.env.CHAOS_REQUESTS ?? 120),
  keys: Number(process.env.CHAOS_KEYS ?? 40),
};

beforeAll(() => {
  const main = join(import.meta.dirname, "..", "dist", "main.js");
  if (!existsSync(main)) throw new Error("The operator is not built. Run: npm run build");
});

test("faults of nodes, networks, the chain and the process lose no update, leave no gap and set no time back", {
  timeout: 240_000 + settings.requests * 500,
}, async () => {
  const report = await runStorm(settings);
  console.log(describeStorm(settings, report));
  expect(report.lost).toEqual([]);
  expect(report.nonces).toMatchObject({ pending: report.nonces.latest, queued: 0 });
  expect(report.wentBack).toEqual([]);
  expect(report.rss.most).toBeLessThan(400);
  expect(report.rss.end).toBeLessThan(report.rss.early * 1.5 + 50);
  expect(report.answers.sent).toBeGreaterThan(settings.requests / 8);
  const kinds = ["reorganisation", "dropped from the pool", "fee spike", "SIGKILL"];
  const least = settings.requests >= 10_000 ? 50 : 1;
  for (const kind of kinds) expect(report.faults[kind] ?? 0, kind).toBeGreaterThanOrEqual(least);
  if (settings.requests >= 10_000) {
    for (const [kind, count] of Object.entries(report.faults)) expect(count, kind).toBeGreaterThanOrEqual(50);
  }
});
