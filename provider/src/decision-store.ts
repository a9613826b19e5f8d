import { accessSync, constants, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { type Report, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { ConfigError } from "@dataset-oracle/service/config";
import { type ChainedBatch, ClassicLevel } from "classic-level";
import { bytesToHex, numberToHex } from "viem";
import { MAX_AHEAD, MAX_BEHIND } from "./signing-window.js";

/** A provider's final answer for a data point at a round: a value, or that there is none. */
export type Decision = Pick<Report, "outcome" | "value">;

/** Makes a decision of a value as a number, or of null when there is no data. */
export const toDecision = (value: bigint | null): Decision =>
  value === null
    ? { outcome: "NOT_AVAILABLE", value: ZERO_VALUE }
    : { outcome: "OK", value: numberToHex(value, { size: 32 }) };

/** How long a decision is kept, in seconds: twice the report age that datasets accept by default. */
export const RETENTION = 600n;

/** How often old decisions are removed, in seconds. */
const PRUNE_INTERVAL = 10n;

/**
 * The shortest time between the starts of two writes, in milliseconds. Waiting for the disk costs more than everything
 * else that a report needs, so decisions that arrive in between share one write; a decision that arrives alone does not
 * wait.
 */
export const WRITE_INTERVAL_MS = 10;

/** The most decisions that one pruning removes. */
const PRUNE_SIZE = 20_000;

/** Enough for a thousand keys at every second of the retention time, with room to spare. */
const CAPACITY = 1_000_000;

/** The database key of `prunedThrough`. It sorts after the keys of all decisions. */
const MARK = "pruned-through";

export interface DecisionStoreOptions {
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  /** The most decisions that the database may hold. */
  readonly capacity?: number;
  /** Called after each write with its duration in seconds. */
  readonly onWrite?: (seconds: number) => void;
}

type Database = ClassicLevel<string, Uint8Array>;

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
 * Decisions older than `RETENTION` are removed. The store remembers the last round that it removed a decision of, and
 * accepts no new decision up to that round, whatever the clock says. Only one process can open the database at a time.
 */
export class DecisionStore {
  readonly #database: Database;
  readonly #options: Required<DecisionStoreOptions>;
  #prunedThrough: bigint;
  #count: number;
  #prunedAt = 0n;
  #waiting: Proposal[] = [];
  #isWriting = false;
  #wroteAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;

  private constructor(
    database: Database,
    options: Required<DecisionStoreOptions>,
    prunedThrough: bigint,
    count: number,
  ) {
    this.#database = database;
    this.#options = options;
    this.#prunedThrough = prunedThrough;
    this.#count = count;
  }

  /**
   * Opens the database in a folder, or creates it. A new database accepts no decision for a round that could have been
   * signed before it existed, because an earlier database may have been lost.
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
    try {
      const mark = await database.get<string, string>(MARK, { valueEncoding: "utf8" });
      const prunedThrough = mark === undefined ? options.now() + MAX_AHEAD : BigInt(mark);
      if (mark === undefined) {
        await database.put<string, string>(MARK, String(prunedThrough), { valueEncoding: "utf8", sync: true });
      }
      let count = 0;
      for await (const _ of database.keys({ lt: MARK })) count += 1;
      return new DecisionStore(database, { capacity: CAPACITY, onWrite: () => {}, ...options }, prunedThrough, count);
    } catch (error) {
      await database.close();
      throw unusable(folder, error);
    }
  }

  /** The last round for which no new decision is accepted. */
  get prunedThrough(): bigint {
    return this.#prunedThrough;
  }

  /** The number of stored decisions. */
  get count(): number {
    return this.#count;
  }

  /** False after the first failed write: what is on disk is then uncertain until the process is restarted. */
  get isWritable(): boolean {
    return this.#failure === undefined;
  }

  /** Returns the stored decisions for data points at a round, without those that are still undecided. */
  recall(round: bigint, dataPoints: readonly string[]): Map<string, Decision> {
    const decided = new Map<string, Decision>();
    for (const dataPoint of dataPoints) {
      const decision = this.#find(keyOf(round, dataPoint));
      if (decision !== undefined) decided.set(dataPoint, decision);
    }
    return decided;
  }

  /**
   * Stores decisions for data points at a round, except where there is a decision already: that one stands.
   *
   * @returns The decisions that are now on disk; null when the store is full, in which case it stored nothing.
   * @throws When the write fails, or the round is not after `prunedThrough`. Nothing may be signed then.
   */
  decide(round: bigint, decisions: ReadonlyMap<string, Decision>): Promise<ReadonlyMap<string, Decision> | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ round, decisions, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  close(): Promise<void> {
    return this.#database.close();
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
        await this.#prune(this.#options.now());
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
      if (added.size > 0 && round <= this.#prunedThrough) {
        done.push(() =>
          reject(new Error(`Round ${round} may have been signed already: it is not after ${this.#prunedThrough}.`)),
        );
        continue;
      }
      if (this.#count + fresh.size + added.size > this.#options.capacity) {
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
    const bytes = this.#database.getSync(key);
    return bytes === undefined ? undefined : fromBytes(bytes);
  }

  async #put(fresh: ReadonlyMap<string, Decision>): Promise<void> {
    const start = performance.now();
    const batch = this.#database.batch();
    for (const [key, decision] of fresh) batch.put(key, toBytes(decision));
    await this.#commit(batch, true);
    this.#count += fresh.size;
    this.#options.onWrite((performance.now() - start) / 1_000);
  }

  async #commit(batch: ChainedBatch<Database, string, Uint8Array>, sync: boolean): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      await batch.write({ sync });
    } catch (error) {
      // A part of the batch may be on disk, so later writes could be lost when the log is recovered.
      this.#failure = error;
      throw error;
    }
  }

  async #prune(now: bigint): Promise<void> {
    if (!this.isWritable) return;
    const since = now - this.#prunedAt;
    const isFull = this.#count >= this.#options.capacity;
    if (!isFull && since >= 0n && since < PRUNE_INTERVAL) return;
    const removed = await this.#remove(now - (isFull ? MAX_BEHIND : RETENTION));
    // Otherwise there are more to remove, after the next write.
    if (removed < PRUNE_SIZE) this.#prunedAt = now;
  }

  /**
   * Removes up to `PRUNE_SIZE` of the oldest decisions for rounds before `end`. `prunedThrough` moves only to the last
   * round that was removed, never to `end`, so that a clock that is ahead for a while does no harm.
   */
  async #remove(end: bigint): Promise<number> {
    if (end <= 0n) return 0;
    const keys = await this.#database.keys({ lt: keyOf(end, ""), limit: PRUNE_SIZE }).all();
    const last = keys.at(-1);
    if (last === undefined) return 0;
    const through = BigInt(last.slice(0, ROUND_DIGITS));
    if (through > this.#prunedThrough) this.#prunedThrough = through;
    const batch = this.#database.batch().put(MARK, Buffer.from(String(this.#prunedThrough)));
    for (const key of keys) batch.del(key);
    await this.#commit(batch, false);
    this.#count -= keys.length;
    return keys.length;
  }
}

/**
 * Checks a database's folder without opening it: another process may have it open.
 *
 * @throws ConfigError when the folder holds something else, or cannot be written.
 */
export function checkDatabase(folder: string): void {
  try {
    // The parent must exist and is never created: where it is missing, a disk may not be mounted.
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
      `database: ${folder} is in use by another process. Stop that process, or give each its own folder.`,
    );
  }
  return unusable(folder, cause ?? error);
}

const unusable = (folder: string, error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException;
  return new ConfigError(
    `database: ${folder} cannot be used: ${code ?? message}. Check that it is a folder that this process may write.`,
  );
};

/** The length that rounds are padded to, so that keys sort by round. */
const ROUND_DIGITS = 13;

const keyOf = (round: bigint, dataPoint: string) => `${String(round).padStart(ROUND_DIGITS, "0")}/${dataPoint}`;

/** Encodes a decision as the value's 32 bytes, or as no bytes when there is no data. */
const toBytes = ({ outcome, value }: Decision): Uint8Array =>
  outcome === "OK" ? Buffer.from(value.slice(2), "hex") : new Uint8Array();

function fromBytes(bytes: Uint8Array): Decision {
  if (bytes.length === 0) return { outcome: "NOT_AVAILABLE", value: ZERO_VALUE };
  if (bytes.length !== 32)
    throw new Error(`A stored decision has ${bytes.length} bytes instead of 0 or 32: the database is damaged.`);
  return { outcome: "OK", value: bytesToHex(bytes) };
}
