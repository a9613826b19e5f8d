import { execFileSync } from "node:child_process";
import crypto, { randomBytes } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ok } from "@dataset-oracle/protocol/result";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ReportedDataset, ServedKey } from "../keys/served-keys.js";
import { EvidenceStore } from "./evidence-store.js";
import { linesOf, readCompressed } from "./segment.js";

const KEY = "0x01";
const key = {
  kind: "spot_price",
  key: KEY,
  sources: [{ spec: { name: "exchange" }, rate: null }],
} as unknown as ServedKey;
const dataset = {
  kind: "median",
  chainId: 42,
  address: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
} as unknown as ReportedDataset;

/** Queues the evidence for a decision whose source answered with a text, or with an answer that others share. */
function keep(store: EvidenceStore, round: bigint, said: string | { readonly text: string }): void {
  const answer = typeof said === "string" ? { text: said } : said;
  const request = { method: "GET", url: "https://exchange.example/", rateLimit: null } as const;
  const answers = new Map([[answer.text, { request, reading: Promise.resolve(ok(answer)) }]]);
  const value = { kind: "none", reason: "", sources: [] } as const;
  store.keep({ dataPoint: { id: "", dataset, key }, value, at: round, answers }, round, {
    outcome: "OK",
    value: `0x${"00".repeat(32)}`,
  });
}

async function store(target: EvidenceStore, round: bigint, text: string): Promise<void> {
  keep(target, round, text);
  await target.close();
}

const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "evidence-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

const textOf = (bytes = 1_500) => randomBytes(bytes).toString("hex");

const open = (folder: string, maxBytes: number, logs: string[] = []) =>
  EvidenceStore.open(pino({}, { write: (line: string) => void logs.push(line) }), {
    folder,
    maxBytes,
    policy: { minSources: 3, maxDeviationBps: 100, maxQuoteAge: 60 },
    redirectedOrigins: {},
  });

/** Reads all records in the order of their rounds, with the texts that they name, and checks that these are there. */
async function read(folder: string): Promise<{ round: number; texts: string[] }[]> {
  const found = [];
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const texts = new Map<string, string>();
    for await (const line of linesOf(file)) {
      if ("hash" in line) texts.set(line.hash, gunzipSync(await readCompressed(file, line.place)).toString("utf8"));
      else {
        const { timestamp, answers } = line.record as { timestamp: number; answers: { text: string }[] };
        found.push({ round: timestamp, texts: answers.map(({ text }) => texts.get(text) ?? "missing") });
      }
    }
  }
  return found.toSorted((a, b) => a.round - b.round);
}

/** What a folder takes on the disk, in bytes. */
const diskUse = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + 512 * statSync(join(folder, name)).blocks, 0);

test("the newest evidence that fits on the disk is kept whole, whether the process is started again or not", async () => {
  for (const restarts of [false, true]) {
    const folder = newFolder();
    const maxBytes = 256 * 1024;
    let target = await open(folder, maxBytes);
    const texts = Array.from({ length: 150 }, () => textOf());
    for (const [round, text] of texts.entries()) {
      if (restarts && round % 7 === 0) target = await open(folder, maxBytes);
      await store(target, BigInt(round), text);
      expect(diskUse(folder)).toBeLessThanOrEqual(maxBytes);
    }
    const kept = await read(folder);
    const first = kept[0]?.round ?? 0;
    expect(first).toBeGreaterThan(0);
    expect(kept).toEqual(texts.map((text, round) => ({ round, texts: [text] })).slice(first));
    expect(diskUse(folder)).toBeGreaterThan(maxBytes * 0.7);
  }
});

test("evidence that is larger than a sixteenth of the space takes the place of older evidence", async () => {
  const folder = newFolder();
  const logs: string[] = [];
  const target = await open(folder, 100_000, logs);
  for (let round = 0n; round < 20n; round++) await store(target, round, textOf());
  const large = textOf(40_000);
  await store(target, 20n, large);
  expect(diskUse(folder)).toBeLessThanOrEqual(100_000);
  expect((await read(folder)).at(-1)).toEqual({ round: 20, texts: [large] });
  const before = await read(folder);
  await store(target, 21n, textOf(200_000));
  expect(logs.join()).toContain("evidence not written");
  expect(await read(folder)).toEqual(before);
});

test("an answer that decisions share is stored once in a segment", async () => {
  const folder = newFolder();
  const target = await open(folder, 10_000_000);
  const text = textOf(100_000);
  for (let round = 0n; round < 10n; round++) await store(target, round, text);
  expect(await read(folder)).toEqual(Array.from({ length: 10 }, (_, round) => ({ round, texts: [text] })));
  expect(diskUse(folder)).toBeLessThan(300_000);
});

test("a spec, and an answer that decisions share, are hashed once", async () => {
  const target = await open(newFolder(), 10_000_000);
  const [one, other] = [{ text: textOf() }, textOf()];
  keep(target, 0n, textOf());
  await target.close();
  const { createHash } = crypto;
  const hashed: unknown[] = [];
  vi.spyOn(crypto, "createHash").mockImplementation((algorithm) => {
    const hash = createHash(algorithm);
    vi.spyOn(hash, "update").mockImplementation((text: crypto.BinaryLike) => {
      hashed.push(text);
      return createHash(algorithm).update(text);
    });
    return hash;
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  for (let round = 1n; round < 10n; round++) keep(target, round, one);
  await target.close();
  await store(target, 10n, other);
  expect(hashed).toEqual([one.text, other]);
});

test.each(["cut", "removed"] as const)(
  "a segment that was %s meanwhile makes no later evidence unreadable",
  async (how) => {
    const folder = newFolder();
    let target = await open(folder, 1_000_000);
    const [first, second] = [textOf(), textOf()];
    await store(target, 1n, first);
    const [file = ""] = readdirSync(folder).map((name) => join(folder, name));
    if (how === "removed") rmSync(file);
    else {
      truncateSync(file, statSync(file).size - 20);
      target = await open(folder, 1_000_000);
    }
    await store(target, 2n, first);
    await store(target, 3n, second);
    expect(await read(folder)).toEqual([
      { round: 2, texts: [first] },
      { round: 3, texts: [second] },
    ]);
  },
);

test("evidence that cannot be written is logged once, and does not prevent signing", async () => {
  const folder = newFolder();
  const logs: string[] = [];
  const target = await open(folder, 100_000, logs);
  mkdirSync(join(folder, "00.jsonl"));
  for (let round = 0n; round < 5n; round++) await store(target, round, "");
  rmSync(join(folder, "00.jsonl"), { recursive: true });
  await store(target, 5n, "");
  expect(logs.map((line) => JSON.parse(line).msg)).toEqual(["evidence not written", "evidence is written again"]);
  expect(await read(folder)).toEqual([{ round: 5, texts: [""] }]);
});

test("a pipe in the place of a segment fails the start, which would wait for it forever", async () => {
  const folder = newFolder();
  execFileSync("mkfifo", [join(folder, "03.jsonl")]);
  await expect(open(folder, 100_000)).rejects.toThrow("03.jsonl is not a file");
});

/** The functions of `node:fs/promises` as they are. */
const ORIGINALS = { ...fs };

/** Replaces functions of `node:fs/promises` until the test ends. */
function replace(functions: object): void {
  const originals = Object.fromEntries(Object.keys(functions).map((name) => [name, fs[name as keyof typeof fs]]));
  const set = (to: object) => {
    Object.assign(fs, to);
    syncBuiltinESMExports();
  };
  set(functions);
  onTestFinished(() => set(originals));
}

test("while the disk hangs, 64 MiB wait in memory, each answer counted once, and what is beyond is dropped", async () => {
  const folder = newFolder();
  const { appendFile } = fs;
  let go = () => {};
  const hanging = new Promise<void>((done) => {
    go = done;
  });
  replace({
    appendFile: async (...args: Parameters<typeof appendFile>) => {
      await hanging;
      return appendFile(...args);
    },
  });
  const logs: string[] = [];
  const target = await open(folder, 1_000_000_000, logs);
  const shared = "x".repeat(1024 * 1024);
  for (let round = 0n; round < 1_000n; round++) keep(target, round, shared);
  for (let round = 1_000n; round < 1_100n; round++) keep(target, round, `${round}${shared}`);
  go();
  await target.close();
  const rounds = (await read(folder)).map(({ round }) => round);
  // 1,000 decisions with 2 MiB and 4 KiB each are 6 MiB; each of the others has 2 MiB.
  expect(rounds.filter((round) => round < 1_000)).toHaveLength(1_000);
  expect(rounds.filter((round) => round >= 1_000)).toHaveLength(28);
  expect(logs.filter((line) => line.includes("evidence dropped: the disk is too slow"))).toHaveLength(1);
});

test("a start makes the same calls however many files are stored, of its own or of others", async () => {
  const calls: Record<string, number> = {};
  const names = ["readdir", "stat", "lstat", "open", "readFile", "opendir"] as const;
  replace(
    Object.fromEntries(
      names.map((name) => [
        name,
        (...args: unknown[]) => {
          calls[name] = (calls[name] ?? 0) + 1;
          return Reflect.apply(ORIGINALS[name], fs, args);
        },
      ]),
    ),
  );
  // `npm run crash` has the number of files that stopped a provider once.
  const most = process.env.MODE === "long" ? 500_000 : 2_000;
  const made: unknown[] = [];
  for (const files of [10, most]) {
    const folder = newFolder();
    mkdirSync(join(folder, "60"));
    for (let i = 0; i < files; i++) writeFileSync(join(folder, i % 2 === 0 ? "60" : "", `${i}.gz`), "");
    for (let i = 0; i < 16; i++) appendFileSync(join(folder, `${String(i).padStart(2, "0")}.jsonl`), textOf(files));
    for (const name of Object.keys(calls)) delete calls[name];
    const memory = process.memoryUsage().rss;
    const start = performance.now();
    await open(folder, 1_000_000);
    const took = performance.now() - start;
    const grown = (process.memoryUsage().rss - memory) / 1024 / 1024;
    if (process.env.MODE === "long") console.log(`${files} files: ${took.toFixed(1)} ms, ${grown.toFixed(1)} MiB`);
    made.push({ ...calls });
  }
  expect(made).toEqual([
    { lstat: 16, open: 16 },
    { lstat: 16, open: 16 },
  ]);
});
