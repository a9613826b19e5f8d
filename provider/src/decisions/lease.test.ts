import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { contextAt } from "../../test/support/test-context.js";
import { Lease } from "./lease.js";

const { open } = fs;

/** Makes the disk full, or gives it room again, for everything that imports `node:fs/promises`. */
function setFull(isFull: boolean): void {
  const writeFile = () => Promise.reject(Object.assign(new Error("no space left on device"), { code: "ENOSPC" }));
  const full: typeof open = async (path, flags, mode) => {
    const handle = await open(path, flags, mode);
    return flags === "wx" ? Object.assign(handle, { writeFile }) : handle;
  };
  fs.open = isFull ? full : open;
  syncBuiltinESMExports();
}

/** Does something else before the next call of a function of `node:fs/promises`. */
function beforeNext(name: "open" | "readFile", action: () => Promise<void>): void {
  const original = fs[name];
  const replace = (by: unknown) => {
    Object.assign(fs, { [name]: by });
    syncBuiltinESMExports();
  };
  replace(async (...args: unknown[]) => {
    replace(original);
    await action();
    return Reflect.apply(original, fs, args);
  });
}

const START = 1_800_000_000n;

let folder: string;
let time: bigint;
let logs: string[];
const writes: number[] = [];
const exits: number[] = [];

const leases: Lease[] = [];
afterEach(() => {
  setFull(false);
  return Promise.all(leases.splice(0).map((lease) => lease.close()));
});

async function take(): Promise<Lease> {
  const logger = pino({}, { write: (line: string) => void logs.push(line) });
  const durations = { observe: (seconds: number) => void writes.push(seconds) };
  const lease = new Lease(
    contextAt(() => time, logger),
    durations,
    folder,
  );
  await lease.take((exitCode) => exits.push(exitCode));
  leases.push(lease);
  return lease;
}

const remove = () => rmSync(folder, { recursive: true });
function empty(): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
}
const keepBackup = () => cpSync(folder, `${folder}-backup`, { recursive: true });
function restoreBackup(): void {
  remove();
  cpSync(`${folder}-backup`, folder, { recursive: true });
}

/** Tells whether a round is permitted once the lease was told of it. */
async function isPermitted(lease: Lease, round: bigint): Promise<boolean> {
  await lease.cover(round);
  return lease.permits(round);
}

const newest = () => join(folder, readdirSync(folder).sort().at(-1) ?? "");
const numberOnDisk = () => BigInt(readFileSync(newest(), "utf8").split(" ")[0] ?? "");

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "lease-")), "lease");
  time = START;
  logs = [];
  writes.length = 0;
  exits.length = 0;
});

describe("a lease", () => {
  test("permits no round up to two seconds past the start, and every later one once a number ahead of it is on disk", async () => {
    const lease = await take();
    expect([lease.refusedThrough, numberOnDisk()]).toEqual([START + 2n, START + 2n]);
    for (const round of [START - 100n, START, START + 2n]) expect(await isPermitted(lease, round)).toBe(false);
    expect(lease.permits(START + 3n)).toBe(false);
    expect(writes).toHaveLength(1);
    expect(await isPermitted(lease, START + 3n)).toBe(true);
    expect(numberOnDisk()).toBe(START + 8n);
    // The number itself is covered, and no more.
    expect([await isPermitted(lease, START + 8n), lease.permits(START + 9n)]).toEqual([true, false]);
    expect(writes).toHaveLength(2);
    for (const seconds of writes) expect(seconds).toBeLessThan(5);
  });

  test("waits for the disk before it permits anything: for the file, the folder, and the folder's own place", async () => {
    const synced: unknown[] = [];
    fs.open = async (path, flags, mode) => {
      const handle = await open(path, flags, mode);
      const sync = () => handle.datasync().then(() => void synced.push(path));
      return Object.assign(handle, { sync });
    };
    syncBuiltinESMExports();
    await take();
    expect(synced).toEqual([join(folder, "000000000001"), folder, dirname(folder)]);
  });

  test("writes once for the rounds of a few seconds, however many ask at once, and keeps one file", async () => {
    const lease = await take();
    for (let round = START + 3n; round < START + 63n; round++) {
      const asked = Array.from({ length: 20 }, () => isPermitted(lease, round));
      expect(await Promise.all(asked)).not.toContain(false);
    }
    // The first was at the start.
    expect(writes.length).toBeGreaterThan(5);
    expect(writes.length).toBeLessThan(16);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test("writes again for a later round that is asked for during a write", async () => {
    const lease = await take();
    expect(await Promise.all([isPermitted(lease, START + 3n), isPermitted(lease, START + 90n)])).toEqual([true, true]);
  });

  test("is taken over with its number: with the clock set back, nothing up to it is permitted again", async () => {
    const first = await take();
    time += 1_000n;
    expect(await isPermitted(first, time)).toBe(true);
    const signed = time;
    time -= 900n;
    const second = await take();
    expect(second.refusedThrough).toBeGreaterThanOrEqual(signed);
    expect(await isPermitted(second, signed)).toBe(false);
    expect(await isPermitted(second, second.refusedThrough + 1n)).toBe(true);
  });

  test("goes on from the last of several files, with the largest of their numbers", async () => {
    await take();
    const earlier = readFileSync(newest());
    time = START + 500n;
    await take();
    const content = readFileSync(newest());
    for (let i = 3; i <= 20; i++) writeFileSync(join(folder, String(i).padStart(12, "0")), earlier);
    writeFileSync(join(folder, "000000000007"), content);
    time = START;
    expect((await take()).refusedThrough).toBe(START + 502n);
    expect(readdirSync(folder)).toEqual(["000000000021"]);
  });

  test("permits no round up to two seconds past the moment at which it was taken over", async () => {
    const observe = () => {
      time += 5n;
    };
    const lease = new Lease(
      contextAt(() => time),
      { observe },
      folder,
    );
    await lease.take();
    leases.push(lease);
    expect(lease.refusedThrough).toBe(START + 7n);
  });

  test("leaves files of other names alone", async () => {
    const lease = await take();
    for (const name of ["0", "x"]) writeFileSync(join(folder, name), "");
    expect(await isPermitted(lease, START + 3n)).toBe(true);
    expect(readdirSync(folder).toSorted()).toEqual(["0", "000000000002", "x"]);
  });

  test("never moves its number back, whatever the clock says", async () => {
    time = START + 86_400n;
    const ahead = (await take()).refusedThrough;
    time = START;
    for (let life = 0; life < 3; life++) expect((await take()).refusedThrough).toBe(ahead);
  });
});

describe("a folder that was changed while no process ran", () => {
  const signed = START + 10n;
  beforeEach(async () => {
    const lease = await take();
    keepBackup();
    expect(await isPermitted(lease, signed)).toBe(true);
    time = signed + 1n;
  });

  test.each<[how: string, change: () => void]>([
    ["its file was removed", () => rmSync(newest())],
    ["it was removed", remove],
    ["its file was emptied", () => truncateSync(newest())],
    ["its file was cut", () => truncateSync(newest(), 12)],
    ["its number was changed", () => writeFileSync(newest(), readFileSync(newest(), "utf8").replace("18", "98"))],
    ["its file is garbage", () => writeFileSync(newest(), Buffer.alloc(4_096, 0xff))],
    ["an older copy was restored", restoreBackup],
  ])("permits nothing that was signed before: %s", async (_, change) => {
    change();
    const lease = await take();
    for (let round = START; round <= signed; round++) expect(await isPermitted(lease, round)).toBe(false);
    expect(lease.refusedThrough).toBe(time + 2n);
    expect(await isPermitted(lease, time + 3n)).toBe(true);
    expect((await take()).refusedThrough).toBeLessThan(time + 60n);
  });

  test("is named in the log when its file is damaged", async () => {
    truncateSync(newest(), 5);
    const path = newest();
    await take();
    expect(logs.join()).toContain(`The lease ${path} is damaged`);
  });

  test("cannot protect rounds that a fast clock signed, if the folder is lost and the clock is corrected", async () => {
    // This is the one case that no rule can save, because nothing remembers those rounds.
    time = START + 3_600n;
    const ahead = await take();
    expect(await isPermitted(ahead, time + 3n)).toBe(true);
    remove();
    time = START + 20n;
    expect(await isPermitted(await take(), START + 3_603n)).toBe(true);
  });
});

describe("two processes", () => {
  test("on one folder: the first notices the second also while nobody asks it for anything", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const first = await take();
    vi.advanceTimersByTime(2_000);
    expect(exits).toEqual([]);
    await take();
    vi.advanceTimersByTime(1_000);
    expect([first.problem, exits]).toEqual(["lost", [3]]);
  });

  test("on one folder: the first signs nothing more once the second has started, and says so", async () => {
    const first = await take();
    expect(await isPermitted(first, START + 3n)).toBe(true);
    time += 4n;
    const second = await take();
    // The first had a number beyond this round, and does not write again for it.
    expect(await isPermitted(first, START + 7n)).toBe(false);
    expect(first.problem).toBe("lost");
    expect(logs.filter((line) => line.includes("Another process has taken the lease"))).toHaveLength(1);
    expect(exits).toEqual([3]);
    expect(second.refusedThrough).toBeGreaterThanOrEqual(START + 3n);
    expect(await isPermitted(second, second.refusedThrough + 1n)).toBe(true);
    expect(await isPermitted(first, START + 600n)).toBe(false);
  });

  test.each<[what: string, call: "open" | "readFile", round: bigint]>([
    ["creates the file of the same number", "open", START],
    ["is at a later file", "open", START + 3n],
    ["removes a file that the second has listed", "readFile", START],
  ])("that start at the same time on one folder do not both start: the first %s", async (_, call, round) => {
    await take();
    let first: Lease | undefined;
    beforeNext(call, async () => {
      first = await take();
      await first.cover(round);
    });
    await expect(take()).rejects.toMatchObject({
      message: expect.stringMatching(/^lease: another process started with/),
      exitCode: 3,
    });
    expect(first && (await isPermitted(first, START + 4n))).toBe(true);
  });

  test("a folder that is removed while a process starts can be there again at its next start", async () => {
    await take();
    beforeNext("readFile", async () => remove());
    await expect(take()).rejects.toMatchObject({ message: expect.stringContaining("cannot be used"), exitCode: 1 });
  });

  test.each([1, 5])(
    "that write at the same time: a number that is taken, or %d higher, stops the first",
    async (more) => {
      const lease = await take();
      expect(await isPermitted(lease, START + 3n)).toBe(true);
      writeFileSync(
        newest().replace(/\d+$/, (digits) => String(Number(digits) + more).padStart(12, "0")),
        "",
      );
      expect(await isPermitted(lease, START + 90n)).toBe(false);
      expect(lease.problem).toBe("lost");
      // Also where its number on disk covers the round.
      expect(await isPermitted(lease, START + 4n)).toBe(false);
    },
  );
});

describe("a process that finds its file gone when it has written the next one", () => {
  test("signs nothing from that moment on, not even while it writes and closes files, and leaves no file that stops another one", async () => {
    const permitted: boolean[] = [];
    let isToEmpty = false;
    fs.open = async (path, flags, mode) => {
      if (isToEmpty && flags === "wx") empty();
      const handle = await open(path, flags, mode);
      if (flags !== "wx") return handle;
      const { close, writeFile } = handle;
      return Object.assign(handle, {
        writeFile: (...content: Parameters<typeof writeFile>) => {
          // What it writes is no sign of another process.
          if (isToEmpty) permitted.push(lease.permits(START + 4n));
          return writeFile.apply(handle, content);
        },
        close: () => {
          const closing = close.call(handle);
          if (isToEmpty) permitted.push(lease.permits(START + 2n), lease.permits(START + 4n));
          return closing;
        },
      });
    };
    syncBuiltinESMExports();
    const lease = await take();
    expect(await isPermitted(lease, START + 3n)).toBe(true);
    isToEmpty = true;
    await lease.cover(START + 90n);
    isToEmpty = false;
    expect(permitted).toEqual([false, false, false]);
    expect([lease.problem, readdirSync(folder), exits]).toEqual(["lost", [], [1]]);
    const next = await take();
    expect(await isPermitted(next, START + 9n)).toBe(true);
    expect(lease.permits(START + 4n)).toBe(false);
  });
});

describe("a folder that is changed while its process runs", () => {
  test.each<[how: string, change: () => void]>([
    ["removed", remove],
    ["emptied", empty],
    ["replaced by an older copy", restoreBackup],
  ])("stops it, whether it looks or writes: %s", async (how, change) => {
    for (const round of [START + 4n, START + 900n]) {
      const lease = await take();
      keepBackup();
      expect(await isPermitted(lease, START + 3n)).toBe(true);
      change();
      expect(await isPermitted(lease, round)).toBe(false);
      expect(await isPermitted(lease, START + 1_000n)).toBe(false);
      expect(lease.problem).toBe("lost");
      // Another process that may be running must not be fought for the lease; where there is none, a start is safe.
      expect(exits.splice(0)).toEqual([how === "replaced by an older copy" ? 3 : 1]);
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("that is full stops it only for rounds beyond the number on disk, and only until there is room", async () => {
    const lease = await take();
    expect(await isPermitted(lease, START + 3n)).toBe(true);
    setFull(true);
    expect(await isPermitted(lease, START + 600n)).toBe(false);
    expect(lease.problem).toBe("unwritable");
    expect(logs.join()).toContain("cannot be written: ENOSPC");
    expect(await isPermitted(lease, START + 601n)).toBe(false);
    expect(await isPermitted(lease, START + 4n)).toBe(true);
    // What was tried and failed leaves no file behind.
    expect(readdirSync(folder)).toHaveLength(1);
    setFull(false);
    expect(await isPermitted(lease, START + 600n)).toBe(true);
    expect(lease.problem).toBeNull();
    expect(await isPermitted(lease, START + 700n)).toBe(true);
    const told = ["cannot be written", "can be written again"].map((what) =>
      logs.filter((line) => line.includes(what)),
    );
    expect(told.map(({ length }) => length)).toEqual([1, 1]);
  });
});

describe("a lease is not taken", () => {
  test("where it cannot be written", async () => {
    setFull(true);
    await expect(take()).rejects.toMatchObject({
      message: expect.stringMatching(/^lease: .*lease cannot be used: ENOSPC/),
      exitCode: 1,
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(["file", "0000000000010", "00000000010", "x00000000010"])(
    "in a folder that holds something else, nor with the folders above it: %s",
    async (name) => {
      await take();
      writeFileSync(join(folder, name), "");
      await expect(take()).rejects.toThrow("holds other files");
      expect(readdirSync(folder).toSorted()).toEqual(["000000000001", name].toSorted());
      folder = join(folder, "no", "lease");
      await expect(take()).rejects.toThrow("ENOENT");
    },
  );

  test("where something in it is no file, which could lead out of the folder or be read forever", async () => {
    await take();
    const path = join(folder, "000000000002");
    for (const make of [() => execFileSync("mkfifo", [path]), () => symlinkSync("/nowhere", path)]) {
      make();
      await expect(take()).rejects.toMatchObject({ message: expect.stringContaining("other files"), exitCode: 2 });
      rmSync(path);
    }
  });

  test("where the folder is a symbolic link that leads nowhere now", async () => {
    symlinkSync(join(tmpdir(), "nowhere"), folder);
    await expect(take()).rejects.toMatchObject({ message: expect.stringContaining("ENOENT"), exitCode: 1 });
  });

  test("after the last number, and a process that reaches it writes no name that its next start would refuse", async () => {
    const last = join(folder, "999999999999");
    mkdirSync(folder);
    writeFileSync(last, "");
    await expect(take()).rejects.toMatchObject({ message: expect.stringContaining("999999999999"), exitCode: 2 });
    renameSync(last, join(folder, "999999999997"));
    const lease = await take();
    expect(await isPermitted(lease, START + 3n)).toBe(true);
    expect(await isPermitted(lease, START + 90n)).toBe(false);
    expect([lease.problem, readdirSync(folder)]).toEqual(["unwritable", ["999999999999"]]);
  });
});
