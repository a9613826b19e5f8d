import type { UpdateProgress } from "@dataset-oracle/protocol/client/update-progress";
import { clockOf } from "@dataset-oracle/tools/clock-of";
import { expect, test } from "vitest";
import { SingleFlight } from "./single-flight.js";

test("runs once for all who ask at the same time, and for those who ask soon after", async () => {
  let now = 0;
  let runs = 0;
  const work = new SingleFlight<number>(
    clockOf(() => now),
    { rememberMs: 1_000 },
  );
  const start = async () => ++runs;
  expect(await Promise.all([work.run("a", start).result, work.run("a", start).result])).toEqual([1, 1]);
  expect(work.find("a")).toBeDefined();
  now = 999;
  expect(await work.run("a", start).result).toBe(1);
  expect(await work.run("b", start).result).toBe(2);
  now = 1_000;
  expect(await work.run("a", start).result).toBe(3);
});

test("forgets a failure at once", async () => {
  const work = new SingleFlight<number>(
    clockOf(() => 0),
    { rememberMs: 1_000 },
  );
  const failing = () => Promise.reject(new Error("no"));
  const both = await Promise.allSettled([work.run("a", failing).result, work.run("a", failing).result]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(work.find("a")).toBeUndefined();
  expect(await work.run("a", async () => 1).result).toBe(1);
});

test("keeps running work, however long it takes", async () => {
  let now = 0;
  const work = new SingleFlight<number>(
    clockOf(() => now),
    { rememberMs: 1_000 },
  );
  let finish: (value: number) => void = () => {};
  const first = work.run("slow", () => new Promise((resolve) => (finish = resolve)));
  expect(work.find("slow")).toBe(first);
  now = 5_000;
  await work.run("quick", async () => 2).result;
  expect(work.run("slow", async () => 3)).toBe(first);
  finish(1);
  expect(await first.result).toBe(1);
});

test("tells whoever follows late what happened before", () => {
  const work = new SingleFlight<void>(
    clockOf(() => 0),
    { rememberMs: 1_000 },
  );
  const event = (n: number): UpdateProgress => ({ event: "asked", timestamp: n, providers: [] });
  const { progress } = work.run("a", async (emitter) => emitter.emit(event(1)));
  const seen: UpdateProgress[] = [];
  const unfollow = progress.follow((it) => seen.push(it));
  progress.emit(event(2));
  unfollow();
  progress.emit(event(3));
  expect(seen).toEqual([event(1), event(2)]);
});
