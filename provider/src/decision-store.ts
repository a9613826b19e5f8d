import { accessSync, constants, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { ConfigError } from "@dataset-oracle/service/config";
import { toHex } from "@dataset-oracle/service/hex";
import { type ChainedBatch, ClassicLevel } from "classic-level";
import type { Decision } from "./decision.js";
import { MAX_AHEAD, MAX_BEHIND } from "./signing-window.js";

/** How long a decision is kept to be repeated, in seconds: twice what datasets accept by default. */
export const KEPT = 600n;

/** How often what is no longer kept is removed, in seconds. */
const PRUNE_INTERVAL = 10n;

/**
 * Writes begin no closer together than this, in milliseconds. What comes meanwhile shares one wait for the disk, which
 * costs more than all else that a report needs; a decision that comes alone waits for nothing.
 */
export const WRITE_INTERVAL_MS = 10;

/** How many decisions are removed at once. */
const PRUNE_SIZE = 20_000;

/** A thousand keys, at every second of the time for which decisions are kept, and more. */
const CAPACITY = 1_000_000;

/** Sorts after every decision's key. */
const MARK = "pruned-through";

export interface DecisionStoreOptions {
  /** The clock, in whole seconds since 1970. */
  readonly now: () => bigint;
  /** The most decisions that are kept. */
  readonly capacity?: number;
  /** Told how long each write took, in seconds. */
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
 * What was decided for each data point at each round, in a database on disk: the one place that keeps a provider from
 * signing two different values for one round. The first decision stands, and is on disk before anybody is told of it.
 *
 * DecisionStore are removed when they are older than `KEPT`. The last round of which one was removed is kept in their
 * place: up to it nothing new is decided, whatever the clock says. One process has the database at a time.
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
   * Opens the database in a folder, or makes it. In a new one nothing is decided for the rounds that could be signed
   * before it was made: there may have been another that is lost.
   *
   * @throws ConfigError when it cannot be read or written, or another process has it.
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

  /** The last round up to which nothing new is decided. */
  get prunedThrough(): bigint {
    return this.#prunedThrough;
  }

  /** How many there are. */
  get count(): number {
    return this.#count;
  }

  /** Whether it can be written; once it could not, what is on disk is uncertain, and only a new start mends it. */
  get isWritable(): boolean {
    return this.#failure === undefined;
  }

  /** What was decided of data points at a round; those of which nothing was are left out. */
  async recall(round: bigint, dataPoints: readonly string[]): Promise<Map<string, Decision>> {
    const decided = new Map<string, Decision>();
    for (const dataPoint of dataPoints) {
      const decision = this.#find(keyOf(round, dataPoint));
      if (decision !== undefined) decided.set(dataPoint, decision);
    }
    return decided;
  }

  /**
   * Decides for data points at a round, unless it is decided already: then that stands.
   *
   * @returns What is decided, and on disk; null when there is no room for it, and nothing was decided.
   * @throws When it cannot be written, or the round is not after `prunedThrough`: then nothing may be signed.
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

  /** One group at a time: what comes meanwhile is written together, so that it shares one wait for the disk. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      await this.#waitForTurn();
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

  async #waitForTurn(): Promise<void> {
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
        done.push(() => reject(new Error(`Round ${round} may have been signed already.`)));
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

  /** What was written last is in memory: a thread of its own for each question would cost far more. */
  #find(key: string): Decision | undefined {
    const bytes = this.#database.getSync(key);
    return bytes === undefined ? undefined : fromBytes(bytes);
  }

  async #put(fresh: ReadonlyMap<string, Decision>): Promise<void> {
    const begin = performance.now();
    const batch = this.#database.batch();
    for (const [key, decision] of fresh) batch.put(key, toBytes(decision));
    await this.#commit(batch, true);
    this.#count += fresh.size;
    this.#options.onWrite((performance.now() - begin) / 1_000);
  }

  async #commit(batch: ChainedBatch<Database, string, Uint8Array>, sync: boolean): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      await batch.write({ sync });
    } catch (error) {
      // A part of it may be on disk: written on, the database might lose what comes after.
      this.#failure = error;
      throw error;
    }
  }

  async #prune(now: bigint): Promise<void> {
    if (!this.isWritable) return;
    const since = now - this.#prunedAt;
    const isFull = this.#count >= this.#options.capacity;
    if (!isFull && since >= 0n && since < PRUNE_INTERVAL) return;
    const removed = await this.#remove(now - (isFull ? MAX_BEHIND : KEPT));
    // The rest of many is removed after the next write.
    if (removed < PRUNE_SIZE) this.#prunedAt = now;
  }

  /**
   * Removes the oldest decisions of rounds before `end`, as many as are removed at once. The mark moves with them, and
   * only as far as there were any: a clock that is ahead for a while does no harm.
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
 * Checks what can be checked of a database without opening it, which only one process can.
 *
 * @throws ConfigError when it cannot be one, or could not be written.
 */
export function checkDatabase(folder: string): void {
  try {
    // Not made with its parents: where those are missing, a disk may not be mounted.
    accessSync(dirname(folder), constants.W_OK);
    const files = filesIn(folder);
    if (files === null) return;
    accessSync(folder, constants.W_OK);
    if (files.length === 0 || files.includes("CURRENT") || files.includes("LOCK")) return;
  } catch (error) {
    throw unusable(folder, error);
  }
  throw new ConfigError(`database: ${folder} holds something else. Name a folder that is new, empty or a database.`);
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
    return new ConfigError(`database: another process uses ${folder}. End it, or give each its own.`);
  }
  return unusable(folder, cause ?? error);
}

const unusable = (folder: string, error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException;
  return new ConfigError(`database: ${folder} cannot be used: ${code ?? message}.`);
};

/** What a round's digits are padded to, so that keys sort as rounds do. */
const ROUND_DIGITS = 13;

const keyOf = (round: bigint, dataPoint: string) => `${String(round).padStart(ROUND_DIGITS, "0")}/${dataPoint}`;

/** The value's 32 bytes; none for "no data". */
const toBytes = ({ outcome, value }: Decision): Uint8Array =>
  outcome === "OK" ? Buffer.from(value.slice(2), "hex") : new Uint8Array();

function fromBytes(bytes: Uint8Array): Decision {
  if (bytes.length === 0) return { outcome: "NOT_AVAILABLE", value: ZERO_VALUE };
  if (bytes.length !== 32) throw new Error(`The database holds a value of ${bytes.length} bytes.`);
  return { outcome: "OK", value: toHex(bytes) };
}
