import { createHash } from "node:crypto";
import { type Report, ZERO_VALUE } from "@dataset-oracle/protocol/report";
import { hexToBigInt, numberToHex } from "viem";

/** A provider's final answer for a data point at a round: a value, or that there is none. */
export type Decision = Pick<Report, "outcome" | "value">;

/** Makes a decision from a value, or from null when there is none. */
export const toDecision = (value: bigint | null): Decision =>
  value === null
    ? { outcome: "NOT_AVAILABLE", value: ZERO_VALUE }
    : { outcome: "OK", value: numberToHex(value, { size: 32 }) };

/** How long a decision is remembered, in seconds: twice the report age that datasets accept by default. */
const RETENTION = 600n;

/** Enough for a thousand keys at every second of this time; they take up 85 MB, and the process grows by 135 MB. */
const CAPACITY = 600_000;

const hashOf = (dataPoint: string): string => createHash("sha256").update(dataPoint).digest("base64");

interface MemoryOptions {
  /** Reserves half of the capacity for reserved callers, because anyone can make up keys of the Web Oracle. */
  readonly hasReserve: boolean;
  /** The maximum number of decisions. */
  readonly capacity?: number;
}

/**
 * Remembers the decision for each data point and round, so that no second one is made while this process runs. When it
 * is full, it takes no further decisions, rather than forget one whose round could still be stored. All times and rounds
 * are in whole seconds since 1970.
 */
export class DecisionMemory {
  /** By round and the hash of the data point, whose key may have 256 bytes; null where there is no value. */
  readonly #rounds = new Map<bigint, Map<string, bigint | null>>();
  readonly #capacity: number;
  readonly #reserve: number;
  #count = 0;
  #forgottenThrough = 0n;
  /** The time of the last look for rounds to forget. */
  #lookedAt = 0n;

  constructor({ hasReserve, capacity = CAPACITY }: MemoryOptions) {
    this.#capacity = capacity;
    this.#reserve = hasReserve ? Math.ceil(capacity / 2) : 0;
  }

  /** The newest round of which a decision was forgotten. For it and earlier rounds, nothing new may be decided. */
  get forgottenThrough(): bigint {
    return this.#forgottenThrough;
  }

  /** The number of decisions. */
  get count(): number {
    return this.#count;
  }

  /** Returns the decisions for data points at a round, without those that are undecided. */
  recall(round: bigint, dataPoints: readonly string[]): Map<string, Decision> {
    const known = this.#rounds.get(round);
    const decided = new Map<string, Decision>();
    if (known === undefined) return decided;
    for (const dataPoint of dataPoints) {
      const value = known.get(hashOf(dataPoint));
      if (value !== undefined) decided.set(dataPoint, toDecision(value));
    }
    return decided;
  }

  /** Returns after how many seconds there is room for more decisions; 0 when there is room now. */
  waitForRoom(more: number, mayUseReserve: boolean, now: bigint): number {
    this.#forget(now);
    if (this.#count + more <= this.#capacity - (mayUseReserve ? 0 : this.#reserve)) return 0;
    let oldest = now;
    for (const round of this.#rounds.keys()) if (round < oldest) oldest = round;
    return Number(oldest + RETENTION - now) + 1;
  }

  /** Remembers decisions, except where there is one already: that one stands. Returns those that stand. */
  record(round: bigint, decisions: ReadonlyMap<string, Decision>): ReadonlyMap<string, Decision> {
    const known = this.#rounds.get(round) ?? new Map<string, bigint | null>();
    this.#rounds.set(round, known);
    const standing = new Map<string, Decision>();
    for (const [dataPoint, decision] of decisions) {
      const hash = hashOf(dataPoint);
      const before = known.get(hash);
      if (before === undefined) {
        known.set(hash, decision.outcome === "OK" ? hexToBigInt(decision.value) : null);
        this.#count += 1;
      }
      standing.set(dataPoint, before === undefined ? decision : toDecision(before));
    }
    return standing;
  }

  /**
   * Forgets the rounds that are older than `RETENTION`. `forgottenThrough` moves only to a round that was forgotten,
   * never to the clock, so that a clock that is ahead for a while does no harm.
   */
  #forget(now: bigint): void {
    if (now === this.#lookedAt) return;
    this.#lookedAt = now;
    for (const [round, decisions] of this.#rounds) {
      if (round >= now - RETENTION) continue;
      this.#rounds.delete(round);
      this.#count -= decisions.size;
      if (round > this.#forgottenThrough) this.#forgottenThrough = round;
    }
  }
}
