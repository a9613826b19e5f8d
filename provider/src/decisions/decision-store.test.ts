import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import fc from "fast-check";
import { numberToHex } from "viem";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Decision } from "./decision.js";
import { DecisionStore, WRITE_INTERVAL_MS } from "./decision-store.js";

const NOW = 1_800_000_000n;

const price = (value: number): Decision => ({ outcome: "OK", value: numberToHex(value, { size: 32 }) });
const NO_DATA: Decision = { outcome: "NOT_AVAILABLE", value: ZERO_VALUE };
const says = (decision: Decision, ...dataPoints: string[]) => new Map(dataPoints.map((name) => [name, decision]));

let folder: string;
let clock: { now: bigint };
let decisions: DecisionStore;
const writes: number[] = [];

/** Closes the database and opens it again, as the next run of the process does. */
async function reopen(capacity?: number): Promise<void> {
  await decisions.close();
  decisions = await open(capacity);
}

const open = (capacity = 1_000) =>
  DecisionStore.open(folder, { now: () => clock.now, capacity, onWrite: (seconds) => writes.push(seconds) });

beforeEach(async () => {
  folder = join(mkdtempSync(join(tmpdir(), "decisions-")), "database");
  clock = { now: NOW - 1_000n };
  decisions = await open();
  clock.now = NOW;
  writes.length = 0;
});
afterEach(() => decisions.close());

describe("a decision", () => {
  it("stands, whatever is proposed later, in this run and in the next", async () => {
    expect(await decisions.decide(NOW, says(price(1), "a"))).toEqual(says(price(1), "a"));
    expect(await decisions.decide(NOW, says(price(2), "a"))).toEqual(says(price(1), "a"));
    await reopen();
    expect(await decisions.decide(NOW, says(NO_DATA, "a"))).toEqual(says(price(1), "a"));
    expect(decisions.recall(NOW, ["a", "b"])).toEqual(says(price(1), "a"));
  });

  it("may be that there is no data, which is not the value 0", async () => {
    await decisions.decide(NOW, says(NO_DATA, "a"));
    await decisions.decide(NOW, says(price(0), "b"));
    await reopen();
    expect(await decisions.decide(NOW, says(price(7), "a", "b"))).toEqual(
      new Map([
        ["a", NO_DATA],
        ["b", price(0)],
      ]),
    );
  });

  it("is for one data point at one round", async () => {
    await decisions.decide(NOW, says(price(1), "a"));
    expect(decisions.recall(NOW, ["b"])).toEqual(new Map());
    expect(decisions.recall(NOW + 1n, ["a"])).toEqual(new Map());
    expect(await decisions.decide(NOW + 1n, says(price(2), "a"))).toEqual(says(price(2), "a"));
  });

  it("is the same for all proposals made at once", async () => {
    const proposals = Array.from({ length: 30 }, (_, i) =>
      decisions.decide(NOW, i % 3 === 0 ? says(price(i), "a", "b") : says(price(i), i % 3 === 1 ? "a" : "b")),
    );
    const answers = await Promise.all(proposals);
    for (const name of ["a", "b"]) {
      const told = answers.flatMap((answer) => answer?.get(name) ?? []);
      expect(told).toHaveLength(20);
      expect(new Set(told.map(({ value }) => value)).size).toBe(1);
    }
  });

  it("waits for the disk together with those that come meanwhile", async () => {
    await Promise.all(Array.from({ length: 500 }, (_, i) => decisions.decide(NOW, says(price(i), `key ${i}`))));
    expect(writes.length).toBeLessThanOrEqual(2);
    expect(decisions.count).toBe(500);
  });

  it("that comes alone is written at once, and those that follow closely share the next write", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    try {
      await decisions.decide(NOW, says(price(1), "alone"));
      const following = ["b", "c", "d"].map((name) => decisions.decide(NOW, says(price(1), name)));
      for (let i = 0; i < 1_000 && vi.getTimerCount() === 0; i++) await new Promise(setImmediate);
      expect(writes).toHaveLength(1);
      vi.advanceTimersByTime(WRITE_INTERVAL_MS);
      await Promise.all(following);
      expect(writes).toHaveLength(2);
      vi.advanceTimersByTime(WRITE_INTERVAL_MS);
      await decisions.decide(NOW, says(price(1), "e"));
      expect(writes).toHaveLength(3);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("an old decision", () => {
  const round = NOW;
  const later = async (seconds: bigint) => {
    clock.now = NOW + seconds;
    await decisions.decide(clock.now, says(price(9), "later"));
    // The second write finds what the first removed.
    await decisions.decide(clock.now, says(price(9), "and later"));
  };

  beforeEach(async () => {
    await decisions.decide(round, says(price(1), "a"));
  });

  it("is removed after ten minutes, not before", async () => {
    await later(600n);
    expect(decisions.recall(round, ["a"])).toEqual(says(price(1), "a"));
    await later(611n);
    expect(decisions.recall(round, ["a"])).toEqual(new Map());
    expect(decisions.prunedThrough).toBe(round);
  });

  it("is never made again, with the clock set back, in this run and in the next", async () => {
    await later(611n);
    clock.now = round;
    for (let run = 0; run < 2; ++run) {
      await expect(decisions.decide(round, says(price(2), "a"))).rejects.toThrow("may have been signed already");
      await expect(decisions.decide(round - 5n, says(price(2), "b"))).rejects.toThrow("may have been signed already");
      await reopen();
    }
    expect(await decisions.decide(round + 1n, says(price(2), "a"))).toEqual(says(price(2), "a"));
  });

  it("blocks rounds only up to the last one removed, even if the clock was ahead", async () => {
    clock.now = NOW + 10_000_000n;
    await decisions.decide(NOW + 1n, says(price(3), "a"));
    await decisions.decide(NOW + 2n, says(price(3), "a"));
    clock.now = NOW + 3n;
    expect(decisions.prunedThrough).toBe(NOW + 1n);
    expect(await decisions.decide(NOW + 3n, says(price(3), "a"))).toEqual(says(price(3), "a"));
  });
});

describe("a full database", () => {
  it("decides nothing more, repeats what it has, and takes more once its oldest cannot be signed any more", async () => {
    await reopen(2);
    await decisions.decide(NOW, says(price(1), "a"));
    expect(await decisions.decide(NOW, says(price(1), "b", "c"))).toBeNull();
    await decisions.decide(NOW + 1n, says(price(1), "a"));
    expect(await decisions.decide(NOW + 1n, says(price(1), "b"))).toBeNull();
    expect(await decisions.decide(NOW, says(price(2), "a"))).toEqual(says(price(1), "a"));
    clock.now = NOW + 13n;
    // This one still finds it full, and makes room for the next.
    await decisions.decide(NOW + 13n, says(price(1), "a"));
    expect(await decisions.decide(NOW + 13n, says(price(1), "a"))).toEqual(says(price(1), "a"));
    await expect(decisions.decide(NOW, says(price(2), "a"))).rejects.toThrow("may have been signed already");
  });

  it("is as full after a new start", async () => {
    await decisions.decide(NOW, says(price(1), "a", "b"));
    await reopen(2);
    expect(decisions.count).toBe(2);
    expect(await decisions.decide(NOW, says(price(1), "c"))).toBeNull();
  });
});

describe("a database", () => {
  it("that is new decides nothing for the rounds that could be signed before", async () => {
    clock.now = NOW - 1_000n;
    expect(decisions.prunedThrough).toBe(clock.now + 2n);
    await expect(decisions.decide(clock.now + 2n, says(price(1), "a"))).rejects.toThrow("may have been signed");
    // An older clock moves nothing.
    clock.now -= 500n;
    await reopen();
    expect(decisions.prunedThrough).toBe(NOW - 998n);
  });

  it("can be opened by one process at a time, and again once it is closed", async () => {
    await expect(open()).rejects.toThrow(
      `database: ${folder} is in use by another process. Stop it. Each signing key needs its own folder.`,
    );
    await reopen();
  });

  it("whose files were damaged, cut, or removed while it was closed never decides a round with another value", async () => {
    const outcomes = new Set<string>();
    const damage = fc.record({
      file: fc.nat(),
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      how: fc.constantFrom("flip", "zeros", "cut", "remove"),
      runs: fc.integer({ min: 1, max: 3 }),
    });
    const check = fc.asyncProperty(damage, async ({ file, at, how, runs }) => {
      const damaged = mkdtempSync(join(tmpdir(), "damaged-"));
      const now = () => NOW;
      for (let run = 0; run < runs; ++run) {
        // The first run begins long before the rounds.
        const store = await DecisionStore.open(damaged, { now: () => NOW - 1_000n });
        for (let round = 0; round < 3; ++round)
          await store.decide(NOW - 9n + BigInt(3 * run + round), says(price(1), "a", "b"));
        await store.close();
      }
      const files = readdirSync(damaged).filter((name) => /log$|ldb$|last-write/.test(name));
      const path = join(damaged, files[file % files.length] ?? "");
      const bytes = readFileSync(path);
      const place = Math.floor(at * bytes.length);
      if (how === "flip") bytes[place] = (bytes[place] ?? 0) ^ 0x10;
      if (how === "zeros") bytes.fill(0, place);
      if (how === "remove") rmSync(path);
      else writeFileSync(path, how === "cut" ? bytes.subarray(0, place) : bytes);

      const store = await DecisionStore.open(damaged, { now }).catch((error: Error) => error);
      if (store instanceof Error) {
        expect(store.message).toMatch(/^database: .* cannot be used: LEVEL_/);
        outcomes.add("refused");
        return;
      }
      for (let round = NOW - 9n; round < NOW - 9n + BigInt(3 * runs); ++round) {
        const decided = await store.decide(round, says(price(2), "a", "b")).catch((error: Error) => error.message);
        outcomes.add(typeof decided === "string" ? "silent" : "repeated");
        if (typeof decided === "string") expect(decided).toMatch(/may have been signed already|is damaged/);
        else expect(decided).toEqual(says(price(1), "a", "b"));
      }
      // Later rounds are decided as ever, and another start finds nothing to repair.
      expect(await store.decide(NOW + 3n, says(price(3), "a"))).toEqual(says(price(3), "a"));
      await store.close();
      const again = await DecisionStore.open(damaged, { now });
      expect(again.wasDamaged).toBe(false);
      await again.close();
    });
    await fc.assert(check, { numRuns: 40, seed: 1 });
    expect(outcomes).toEqual(new Set(["refused", "silent", "repeated"]));
  });

  it("that is an older copy decides nothing for the rounds that could be signed before", async () => {
    await decisions.decide(NOW, says(price(1), "a"));
    await decisions.close();
    const copy = `${folder}-copy`;
    cpSync(folder, copy, { recursive: true });
    decisions = await open();
    await decisions.decide(NOW + 1n, says(price(1), "a"));
    await decisions.close();
    // All but the note beside LevelDB's files.
    cpSync(join(folder, "last-write"), join(copy, "last-write"));
    folder = copy;
    decisions = await open();
    expect(decisions.wasDamaged).toBe(true);
    expect(await decisions.decide(NOW, says(price(2), "a"))).toEqual(says(price(1), "a"));
    await expect(decisions.decide(NOW + 1n, says(price(2), "a"))).rejects.toThrow("may have been signed already");
    expect(await decisions.decide(NOW + 3n, says(price(2), "a"))).toEqual(says(price(2), "a"));
  });

  it("does not follow a symbolic link in place of last-write", async () => {
    await decisions.close();
    const note = join(folder, "last-write");
    rmSync(note);
    symlinkSync(join(folder, "elsewhere"), note);
    await expect(open()).rejects.toThrow(/^database: .* cannot be used: ELOOP/);
    rmSync(note);
    decisions = await open();
  });

  it("that is damaged is refused, and named", async () => {
    await decisions.decide(NOW, says(price(1), "a"));
    await decisions.close();
    for (const file of readdirSync(folder).filter((name) => name.startsWith("MANIFEST"))) rmSync(join(folder, file));
    await expect(open()).rejects.toThrow(/^database: .*database cannot be used: LEVEL_/);
    rmSync(folder, { recursive: true });
    decisions = await open();
  });

  it("is not made in a folder that holds something else, nor with the folders above it", async () => {
    const above = join(folder, "..", "no");
    await expect(DecisionStore.open(join(above, "database"), { now: () => NOW })).rejects.toThrow("ENOENT");
    const other = mkdtempSync(join(tmpdir(), "other-"));
    writeFileSync(join(other, "file"), "");
    await expect(DecisionStore.open(other, { now: () => NOW })).rejects.toThrow("holds other files");
    expect(readdirSync(other)).toEqual(["file"]);
  });
});
