import { accessSync, constants, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigError } from "@dataset-oracle/service/config/config-error";
import { type ChainedBatch, ClassicLevel } from "classic-level";
import { MAX_ROUND_AGE_AT_DECISION, MAX_ROUND_AHEAD } from "../signing-window-limits.js";
import type { Decision } from "./decision.js";
import { LastWriteFile, type Write } from "./last-write-file.js";
import { addCheck, decodeDecision, decodeNumbers, encodeDecision, encodeNumbers } from "./stored-records.js";

/** How long a decision is kept, in seconds: twice the report age that datasets accept by default. */
const RETENTION = 600n;

/** How often old decisions are removed, in seconds. */
const PRUNE_INTERVAL = 10n;

/**
 * The shortest time between the starts of two writes, in milliseconds. Waiting for the disk costs more than everything
 * else that a report needs, so decisions that arrive in between share one write; a decision that arrives alone does not
 * wait.
 */
export const WRITE_INTERVAL_MS = 10;

/** The maximum number of decisions that one pruning removes. */
const PRUNE_SIZE = 20_000;

/** Enough for a thousand keys at every second of the retention time, with room to spare. */
const CAPACITY = 1_000_000;

/**
 * How long decisions are also kept in memory, in seconds: longer than a round can be decided. Damage to the disk in
 * that time therefore cannot cause a round to be decided again.
 */
const RECENT = 60n;

/** The database key of the `Ledger`. It sorts after the keys of all decisions. */
const LEDGER = "ledger";

interface DecisionStoreOptions {
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  /** The maximum number of decisions that the database may hold. */
  readonly capacity?: number;
  /** Called after each write with its duration in seconds. */
  readonly onWrite?: (seconds: number) => void;
}

type Database = ClassicLevel<string, Uint8Array>;

/** The record that every write replaces. Lost or damaged decisions are noticed because they do not match it. */
interface Ledger {
  prunedThrough: bigint;
  /** The number of the last write of decisions. */
  write: bigint;
  /** The sum of the checksums of all decisions. */
  sum: bigint;
}

/** The content of a database. */
interface Content extends Ledger {
  count: number;
  lastRound: bigint;
  readonly recent: Map<string, Decision>;
  /** The state when the database was opened. */
  readonly state: "intact" | "new" | "damaged";
}

interface Proposal {
  readonly round: bigint;
  readonly decisions: ReadonlyMap<string, Decision>;
  readonly resolve: (decided: ReadonlyMap<string, Decision> | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Keeps the decision for each data point and round in a LevelDB database. This is the only thing that stops a provider
 * from signing two different values for one round: the first decision stands, and it is on disk before it is returned.
 *
 * Decisions older than `RETENTION` are removed, and younger ones when the store is full. The store remembers the last
 * round from which it removed a decision, and accepts no new decision for that round or an earlier one, whatever the
 * clock says. Only one process can open the database at a time.
 *
 * LevelDB's own checksums are not enough: by default it drops what it cannot read, and classic-level does not offer its
 * option `paranoid_checks`. So each decision has a checksum of its own, and the ledger has their sum.
 */
export class DecisionStore {
  #prunedAt = 0n;
  #waiting: Proposal[] = [];
  /** The decisions of the write in progress, which LevelDB shows before the write is complete. */
  #unfinished: ReadonlyMap<string, Decision> = new Map();
  #isWriting = false;
  #wroteAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;

  private constructor(
    private readonly database: Database,
    private readonly options: Required<DecisionStoreOptions>,
    private readonly lastWrite: LastWriteFile,
    private readonly content: Content,
  ) {}

  /**
   * Opens the database in a folder, or creates it. A new database, and one with a lost or damaged decision, accepts no
   * decision for a round that could have been signed before it was opened.
   *
   * @throws ConfigError when the database cannot be read or written, or another process has opened it.
   */
  static async open(folder: string, options: DecisionStoreOptions): Promise<DecisionStore> {
    checkDatabase(folder);
    const database: Database = new ClassicLevel(folder, { valueEncoding: "view" });
    try {
      await database.open();
    } catch (error) {
      throw unopened(folder, error);
    }
    let lastWrite: LastWriteFile | null = null;
    try {
      lastWrite = new LastWriteFile(folder);
      const content = await readContent(database, lastWrite.read(), options.now());
      const store = new DecisionStore(
        database,
        { capacity: CAPACITY, onWrite: () => {}, ...options },
        lastWrite,
        content,
      );
      if (content.state !== "intact") await store.#commit(database.batch(), true);
      return store;
    } catch (error) {
      lastWrite?.close();
      await database.close();
      throw unusable(folder, error);
    }
  }

  /** True when decisions were lost or damaged before the database was opened. */
  get wasDamaged(): boolean {
    return this.content.state === "damaged";
  }

  /** The last round for which no new decision is accepted. */
  get prunedThrough(): bigint {
    return this.content.prunedThrough;
  }

  /** The number of stored decisions. */
  get count(): number {
    return this.content.count;
  }

  /** False after a failed write or a damaged decision: what is on disk is uncertain until the process is restarted. */
  get isWritable(): boolean {
    return this.#failure === undefined;
  }

  /** Returns the stored decisions for data points at a round, without those that are undecided or still being written. */
  recall(round: bigint, dataPoints: readonly string[]): Map<string, Decision> {
    const decided = new Map<string, Decision>();
    for (const dataPoint of dataPoints) {
      const key = keyOf(round, dataPoint);
      const decision = this.#unfinished.has(key) ? undefined : this.#find(key);
      if (decision !== undefined) decided.set(dataPoint, decision);
    }
    return decided;
  }

  /**
   * Stores decisions for data points at a round, except where there is a decision already: that one stands.
   *
   * @returns The decisions that are now on disk; null when the store is full, in which case it stored nothing.
   * @throws When the write fails, or an undecided round is not after `prunedThrough`. Nothing may be signed then.
   */
  decide(round: bigint, decisions: ReadonlyMap<string, Decision>): Promise<ReadonlyMap<string, Decision> | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ round, decisions, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async close(): Promise<void> {
    await this.database.close();
    this.lastWrite.close();
  }

  /** Writes one group of proposals at a time; those that arrive during a write form the next group. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      await this.#waitForInterval();
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(group);
        await this.#prune(this.options.now());
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#isWriting = false;
  }

  async #waitForInterval(): Promise<void> {
    const rest = this.#wroteAt + WRITE_INTERVAL_MS - performance.now();
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    this.#wroteAt = performance.now();
  }

  async #write(group: readonly Proposal[]): Promise<void> {
    const fresh = new Map<string, Decision>();
    const done: (() => void)[] = [];
    for (const { round, decisions, resolve, reject } of group) {
      const answer = new Map<string, Decision>();
      const added = new Map<string, Decision>();
      for (const [dataPoint, decision] of decisions) {
        const key = keyOf(round, dataPoint);
        const before = fresh.get(key) ?? this.#find(key);
        if (before === undefined) added.set(key, decision);
        answer.set(dataPoint, before ?? decision);
      }
      if (added.size > 0 && round <= this.prunedThrough) {
        done.push(() =>
          reject(new Error(`Round ${round} may have been signed already: it is not after ${this.prunedThrough}.`)),
        );
        continue;
      }
      if (this.count + fresh.size + added.size > this.options.capacity) {
        done.push(() => resolve(null));
        continue;
      }
      for (const [key, decision] of added) fresh.set(key, decision);
      done.push(() => resolve(answer));
    }
    if (fresh.size > 0) await this.#put(fresh);
    for (const answer of done) answer();
  }

  /** Reads synchronously: recent decisions are in LevelDB's memory, and a trip to a worker thread costs far more. */
  #find(key: string): Decision | undefined {
    const recent = this.content.recent.get(key);
    if (recent !== undefined) return recent;
    const bytes = this.database.getSync(key);
    return bytes === undefined ? undefined : this.#decode(key, bytes).decision;
  }

  /** @throws When the decision is damaged. Nothing new is signed from then on, because others may be lost. */
  #decode(key: string, bytes: Uint8Array) {
    const record = decodeDecision(key, bytes);
    if (record !== null) return record;
    this.#failure ??= new Error(`The stored decision ${key} is damaged. Restart the provider.`);
    throw this.#failure;
  }

  async #put(fresh: ReadonlyMap<string, Decision>): Promise<void> {
    const start = performance.now();
    const batch = this.database.batch();
    for (const [key, decision] of fresh) {
      const { bytes, check } = encodeDecision(key, decision);
      batch.put(key, bytes);
      this.content.sum = addCheck(this.content.sum, check);
      const round = roundOf(key);
      if (round > this.content.lastRound) this.content.lastRound = round;
    }
    this.#unfinished = fresh;
    await this.#commit(batch, true);
    this.#unfinished = new Map();
    for (const [key, decision] of fresh) this.content.recent.set(key, decision);
    this.content.count += fresh.size;
    this.options.onWrite((performance.now() - start) / 1_000);
  }

  /** Writes a batch and the ledger. With `sync`, it waits until they are on disk, and counts a write of decisions. */
  async #commit(batch: ChainedBatch<Database, string, Uint8Array>, sync: boolean): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      if (sync) this.content.write += 1n;
      batch.put(LEDGER, Buffer.from(encodeNumbers(this.content.prunedThrough, this.content.write, this.content.sum)));
      await batch.write({ sync });
      if (sync) this.lastWrite.write({ number: this.content.write, lastRound: this.content.lastRound });
    } catch (error) {
      // A part of the batch may be on disk, so later writes could be lost when the log is recovered.
      this.#failure = error;
      throw error;
    }
  }

  async #prune(now: bigint): Promise<void> {
    if (!this.isWritable) return;
    const since = now - this.#prunedAt;
    const isFull = this.count >= this.options.capacity;
    if (!isFull && since >= 0n && since < PRUNE_INTERVAL) return;
    for (const key of this.content.recent.keys()) if (roundOf(key) < now - RECENT) this.content.recent.delete(key);
    const removed = await this.#remove(now - (isFull ? MAX_ROUND_AGE_AT_DECISION : RETENTION));
    // Otherwise there are more to remove, after the next write.
    if (removed < PRUNE_SIZE) this.#prunedAt = now;
  }

  /**
   * Removes up to `PRUNE_SIZE` of the oldest decisions for rounds before `end`. `prunedThrough` moves only to the last
   * round that was removed, never to `end`, so that a clock that is ahead for a while does no harm.
   */
  async #remove(end: bigint): Promise<number> {
    if (end <= 0n) return 0;
    const records = await this.database.iterator({ lt: keyOf(end, ""), limit: PRUNE_SIZE }).all();
    const last = records.at(-1);
    if (last === undefined) return 0;
    const through = roundOf(last[0]);
    if (through > this.prunedThrough) this.content.prunedThrough = through;
    const batch = this.database.batch();
    for (const [key, bytes] of records) {
      this.content.sum = addCheck(this.content.sum, -this.#decode(key, bytes).check);
      batch.del(key);
      this.content.recent.delete(key);
    }
    await this.#commit(batch, false);
    this.content.count -= records.length;
    return records.length;
  }
}

/**
 * Checks a database's folder without opening it: another process may have it open.
 *
 * @throws ConfigError when the folder holds something else, or cannot be written.
 */
export function checkDatabase(folder: string): void {
  try {
    // The parent must exist and is never created: if it is missing, a disk may not be mounted.
    accessSync(dirname(folder), constants.W_OK);
    const files = filesIn(folder);
    if (files === null) return;
    accessSync(folder, constants.W_OK);
    if (files.length === 0 || files.includes("CURRENT") || files.includes("LOCK")) return;
  } catch (error) {
    throw unusable(folder, error);
  }
  throw new ConfigError(
    `database: ${folder} holds other files. Name a folder that does not exist yet, is empty, or holds a provider's database.`,
  );
}

function filesIn(folder: string): string[] | null {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function unopened(folder: string, error: unknown): ConfigError {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  if (cause?.code === "LEVEL_LOCKED") {
    return new ConfigError(
      `database: ${folder} is in use by another process. Stop it. Each signing key needs its own folder.`,
    );
  }
  return unusable(folder, cause ?? error);
}

const unusable = (folder: string, error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "LEVEL_CORRUPTION") {
    return new ConfigError(
      `database: ${folder} cannot be used: ${code}. Check the disk, then delete the folder: with a new database, the ` +
        "provider signs again after a few seconds.",
    );
  }
  return new ConfigError(
    `database: ${folder} cannot be used: ${code ?? message}. Check that its parent folder exists, that it is not a ` +
      "file, and that this process can write to both.",
  );
};

/** The length that rounds are padded to, so that keys sort by round. */
const ROUND_DIGITS = 13;

/** Matches the keys that `keyOf` makes. */
const KEY = /^\d{13}\//;

const keyOf = (round: bigint, dataPoint: string) => `${String(round).padStart(ROUND_DIGITS, "0")}/${dataPoint}`;

const roundOf = (key: string) => BigInt(key.slice(0, ROUND_DIGITS));

/**
 * Reads a whole database and compares it with its ledger. Damaged decisions are removed.
 *
 * @param lastWrite The last write according to the file that `LastWriteFile` keeps.
 */
async function readContent(database: Database, lastWrite: Write | null, now: bigint): Promise<Content> {
  const text = await database.get<string, string>(LEDGER, { valueEncoding: "utf8" });
  const [prunedThrough = 0n, write = 0n, sum = 0n] = decodeNumbers(text ?? "", 3) ?? [];
  const recent = new Map<string, Decision>();
  const damaged: string[] = [];
  let [count, actual, lastRound] = [0, 0n, 0n];
  for await (const [key, bytes] of database.iterator({ lt: LEDGER })) {
    const record = KEY.test(key) ? decodeDecision(key, bytes) : null;
    if (record === null) {
      damaged.push(key);
      continue;
    }
    count += 1;
    actual = addCheck(actual, record.check);
    lastRound = roundOf(key);
    if (lastRound >= now - RECENT) recent.set(key, record.decision);
  }
  // The process may have ended after a write but before noting it, so that nothing of that write was signed.
  const isLast = lastWrite !== null && (lastWrite.number === write || lastWrite.number === write - 1n);
  if (isLast && damaged.length === 0 && actual === sum && write > 0n) {
    return {
      state: "intact",
      prunedThrough,
      write,
      sum,
      count,
      recent,
      lastRound: max(lastRound, lastWrite.lastRound),
    };
  }
  await database.batch(damaged.map((key) => ({ type: "del", key })));
  return {
    state: text === undefined && lastWrite === null && count + damaged.length === 0 ? "new" : "damaged",
    prunedThrough: max(prunedThrough, now + MAX_ROUND_AHEAD, lastRound, lastWrite?.lastRound ?? 0n),
    write: max(write, lastWrite?.number ?? 0n),
    sum: actual,
    count,
    recent,
    lastRound: max(lastRound, lastWrite?.lastRound ?? 0n),
  };
}

function max(...numbers: readonly bigint[]): bigint {
  let most = 0n;
  for (const number of numbers) if (number > most) most = number;
  return most;
}
